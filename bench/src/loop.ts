import { runAgent } from '@holdfast/executor';
import { callBudget, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import { argumentsText, callBare, forecast } from './bench-tool.ts';
import { compare, type Row, type Subject } from './compare.ts';
import type { TimeReport } from './report.ts';

const rounds = 40;
/** Turns in one sample, so that short loops are repeated. */
const turnsPerSample = 1_000;

/** An agent loop of one call a turn against the floor of as many bare calls; what is reported is the time of one turn. */
export async function measureLoop(): Promise<TimeReport> {
  const rows: Row[] = [];
  for (const turns of [1, 10, 100, 1_000]) {
    const subjects = [floor(turns), loop(turns)];
    rows.push(...(await compare(subjects, { rounds, warmUpRounds: 15, now })));
  }
  return { name: 'loop', rounds, rows };
}

function now(): number {
  return Number(process.hrtime.bigint());
}

function floor(turns: number): Subject {
  return {
    name: `floor, ${turns} calls`,
    operations: turnsPerSample,
    prepare: () => async () => {
      for (let count = 0; count < turnsPerSample; count += 1) await callBare();
    },
  };
}

const prompt = createPrompt({
  ns: 'bench',
  key: 'loop',
  sections: [markdownSection({ title: 'Weather', template: 'Answer from the forecast.', tools: [forecast] })],
});

function loop(turns: number): Subject {
  const script = [
    ...Array.from({ length: turns }, (_, turn) => ({
      calls: [{ id: `call-${turn}`, name: 'forecast', arguments: argumentsText }],
    })),
    { text: 'Done.' },
  ];
  const runs = turnsPerSample / turns;
  return {
    name: `loop, ${turns} turns`,
    operations: turnsPerSample,
    ...(turns === 1_000 ? { goal: 5 } : {}),
    prepare() {
      const prepared = Array.from({ length: runs }, () => ({
        model: scriptedModel(script),
        session: createSession(),
        policies: [callBudget({ maxCalls: turns }), sequentialDependency({ forecast: [] })],
        prompt,
        input: 'What will the weather be?',
        maxRounds: turns + 1,
      }));
      return async () => {
        for (const options of prepared) {
          const { status, outcomes } = await runAgent(options).result;
          if (status !== 'completed' || outcomes.length !== turns)
            throw new Error(`${status} with ${outcomes.length} calls`);
        }
      };
    },
  };
}
