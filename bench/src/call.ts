import type { ExecutableTool, RunEvent } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { callBudget, sequentialDependency } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import { argumentsText, callBare, failingForecast, forecast } from './bench-tool.ts';
import { compare, type Subject } from './compare.ts';
import type { TimeReport } from './report.ts';

// Short samples and many rounds: a sample that the machine interrupts is then an outlier, which a median passes over.
const operations = 250;
const rounds = 200;

/** A governed call against the floor: two policies, transaction, one record, rendered result. */
export async function measureCall(): Promise<TimeReport> {
  const subjects: readonly Subject[] = [
    {
      name: 'floor',
      operations,
      prepare: () => async () => {
        for (let count = 0; count < operations; count += 1) await callBare();
      },
    },
    governed('governed', forecast, 'ok', { observed: true, goal: 2.5 }),
    governed('governed, nobody listens', forecast, 'ok', { observed: false }),
    governed('rolled back', failingForecast, 'failed', { observed: true, goal: 1.5, against: 'governed' }),
  ];
  const rows = await compare(subjects, { rounds, warmUpRounds: 80, now });
  return { name: 'call', rounds, rows };
}

function now(): number {
  return Number(process.hrtime.bigint());
}

function governed(
  name: string,
  tool: ExecutableTool,
  expected: string,
  { observed, ...more }: { readonly observed: boolean; readonly goal?: number; readonly against?: string },
): Subject {
  const tools = [tool];
  return {
    name,
    operations,
    ...more,
    prepare() {
      const session = createSession();
      const policies = [callBudget({ maxCalls: operations }), sequentialDependency({ forecast: [] })];
      let ended = 0;
      const onEvent = (event: RunEvent) => {
        if (event.type === 'tool-call-end') ended += 1;
      };
      const options = { tools, session, policies, ...(observed ? { onEvent } : {}) };
      return async () => {
        for (let count = 0; count < operations; count += 1) {
          const { kind } = await executeToolCall(
            { id: `call-${count}`, name: 'forecast', arguments: argumentsText },
            options,
          );
          if (kind !== expected) throw new Error(`the call ended as \`${kind}\`, expected \`${expected}\``);
        }
        if (observed && ended !== operations) throw new Error(`${ended} end events for ${operations} calls`);
      };
    },
  };
}
