// Measures what is left on the heap and prints figures as JSON. Runs with --expose-gc.
import type { Model, ModelEvent } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { toSpread } from '../compare.ts';
import type { Figure } from '../report.ts';
import { createForecastSession, type LoopShape, prepareRun, scriptOf } from './agent-run.ts';

const repeats = 7;
// One long run, and many short ones after each other.
const turns = 1_000;
const shortTurns = 10;
const runs = 500;

const collectGarbage = globalThis.gc;
if (collectGarbage === undefined) throw new Error('memory is measured with --expose-gc');

function heapUsed(): number {
  // What only weak references hold goes in the next collection.
  for (let count = 0; count < 4; count += 1) collectGarbage?.();
  return process.memoryUsage().heapUsed;
}

/** Unlike a scripted model it remembers no request, so that only what the runtime keeps is counted. */
function forgetfulModel(calls: number): Model {
  const script = scriptOf({ turns: calls });
  let asked = 0;
  return {
    id: 'bench:forgetful',
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      const turn = script[asked];
      asked += 1;
      for (const call of turn?.calls ?? []) yield { type: 'tool-call', ...call };
      yield { type: 'finish', reason: turn?.calls === undefined ? 'stop' : 'tool-calls' };
    },
  };
}

function shapeOf(calls: number, session?: Session): LoopShape {
  const createModel = () => forgetfulModel(calls);
  return { turns: calls, createModel, ...(session === undefined ? {} : { session }) };
}

function forgetfulSession(): Session {
  return createForecastSession({ store: { append: () => undefined, close: () => undefined } });
}

async function bytesKept(run: () => Promise<unknown>): Promise<number> {
  const before = heapUsed();
  const kept = await run();
  const after = heapUsed();
  // Until here, so that it is still there when it is counted.
  if (kept === undefined) throw new Error('the run gave nothing to keep');
  return after - before;
}

async function repeat(measure: () => Promise<number>, name: string, operations: number): Promise<Figure> {
  const samples: number[] = [];
  for (let count = -2; count < repeats; count += 1) {
    const bytes = await measure();
    if (count >= 0) samples.push(bytes / operations);
  }
  const { median, min, max } = toSpread(samples);
  return { name, value: Math.round(median), min: Math.round(min), max: Math.round(max), unit: 'B' };
}

const lasting = forgetfulSession();
const figures = [
  await repeat(
    () => bytesKept(prepareRun(shapeOf(turns))),
    `per turn of a run of ${turns}, with session, log and result kept`,
    turns,
  ),
  await repeat(
    () => bytesKept(prepareRun(shapeOf(turns, forgetfulSession()))),
    'the same with a store that keeps nothing',
    turns,
  ),
  await repeat(
    () => bytesKept(() => runMany(() => undefined)),
    `left by each of ${runs} runs of ${shortTurns} turns in sessions that nobody keeps`,
    runs,
  ),
  await repeat(
    () => bytesKept(() => runMany(() => lasting)),
    `left by each of ${runs} runs of ${shortTurns} turns in one session whose store keeps nothing`,
    runs,
  ),
];
console.log(JSON.stringify(figures));

async function runMany(sessionOf: () => Session | undefined): Promise<string> {
  for (let count = 0; count < runs; count += 1) await prepareRun(shapeOf(shortTurns, sessionOf()))();
  return 'only what they left behind';
}
