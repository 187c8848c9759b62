import type { RunEvent } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import { type Against, compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { createForecastSession } from './agent-run.ts';
import {
  argumentsText,
  callBare,
  type ForecastTool,
  failingForecast,
  readingForecast,
  toolName,
  twoPolicies,
  writingForecast,
} from './forecast.ts';

// Short samples and many rounds: a sample that the machine interrupts is then an outlier, which a median passes over.
const operations = 250;

/** A governed call against the floor: two policies, a transaction with one event and one state write, one record, rendered result. */
export async function measureOneCall(extent: Extent = everything): Promise<TimeReport> {
  const rows = await compare(
    [
      floor(operations),
      governedCalls({ name: 'governed', against: [{ name: 'floor', goal: 2.5 }] }),
      governedCalls({
        name: 'nobody listens',
        listening: 'nobody',
        against: [{ name: 'governed', goal: 1.05 }, { name: 'floor' }],
      }),
      governedCalls({ name: 'a log listener', listening: 'log', against: [{ name: 'nobody listens' }] }),
      governedCalls({
        name: 'rolled back',
        tool: failingForecast,
        kind: 'failed',
        against: [{ name: 'governed', goal: 1.5 }],
      }),
      governedCalls({ name: 'effects none', tool: readingForecast, against: [{ name: 'floor' }] }),
    ],
    limitRounds({ rounds: 200, warmUpRounds: 80 }, extent),
  );
  const notes = [
    'floor: parse, validate, call. governed: two policies, one event, one state write, one event listener.',
    'a log listener: `session.subscribe` in place of `onEvent`. effects none: writes no state.',
  ];
  return { name: 'call-path: one call', notes, rows };
}

/** As many bare calls. */
export function floor(calls: number): Subject {
  return {
    name: 'floor',
    operations: calls,
    prepare: () => async () => {
      for (let count = 0; count < calls; count += 1) await callBare();
    },
  };
}

interface GovernedCalls {
  readonly name: string;
  readonly against: readonly Against[];
  /** Default `writingForecast`. */
  readonly tool?: ForecastTool;
  /** How every call has to end. Default `ok`. */
  readonly kind?: string;
  /** Default: one listener to events. */
  readonly listening?: 'events' | 'log' | 'nobody';
}

/** Direct calls, one after the other, in a session of their own. */
export function governedCalls({
  name,
  against,
  tool = writingForecast,
  kind = 'ok',
  listening = 'events',
}: GovernedCalls): Subject {
  const tools = [tool];
  return {
    name,
    operations,
    against,
    prepare() {
      const session = createForecastSession();
      const listener = listen(session, listening);
      const options = { tools, session, policies: twoPolicies(), ...listener.options };
      return async () => {
        for (let count = 0; count < operations; count += 1) {
          const outcome = await executeToolCall(
            { id: `call-${count}`, name: toolName, arguments: argumentsText },
            options,
          );
          if (outcome.kind !== kind) throw new Error(`the call ended as \`${outcome.kind}\`, expected \`${kind}\``);
        }
        listener.check();
      };
    },
  };
}

function listen(
  session: Session,
  listening: 'events' | 'log' | 'nobody',
): { readonly options: { readonly onEvent?: (event: RunEvent) => void }; check(): void } {
  let ended = 0;
  const listener = ({ type }: { readonly type: string }): void => {
    if (type === 'tool-call-end') ended += 1;
  };
  if (listening === 'log') session.subscribe(listener);
  const expected = listening === 'nobody' ? 0 : operations;
  return {
    options: listening === 'events' ? { onEvent: listener } : {},
    check() {
      if (ended !== expected) throw new Error(`the listener heard of ${ended} ends, expected ${expected}`);
    },
  };
}
