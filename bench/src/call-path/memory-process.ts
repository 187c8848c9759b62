// Measures the retained heap and prints figures as JSON. Takes the number of repetitions; for the flags see `memory.ts`.
import { setImmediate } from 'node:timers/promises';
import { createSession, type Session } from '@holdfast/session';
import { toSpread } from '../compare.ts';
import type { Figure } from '../report.ts';
import { type LoopShape, prepareRun } from './agent-run.ts';
import { forecasting, forecasts } from './forecast.ts';

const repeats = Number(process.argv[2]);
// One long run, and many short ones after each other.
const turns = 1_000;
const shortTurns = 10;
const runs = 500;
// As many as a young generation has room for.
const dropped = 10;
const droppedTurns = 200;

const collectGarbage = globalThis.gc;
if (collectGarbage === undefined) throw new Error('memory is measured with --expose-gc');

function heapUsed(): number {
  // Weakly referenced objects are freed by the next collection.
  for (let count = 0; count < 4; count += 1) collectGarbage?.();
  return process.memoryUsage().heapUsed;
}

function shapeOf(length: number, session?: Session): LoopShape {
  return { turns: length, work: forecasting, ...(session === undefined ? {} : { session }) };
}

function forgetfulSession(): Session {
  return createSession({ slices: [forecasts], store: { append: () => undefined, close: () => undefined } });
}

async function bytesKept(run: () => Promise<unknown>): Promise<number> {
  const before = heapUsed();
  const kept = await run();
  const after = heapUsed();
  // Keeps the object alive until it is counted.
  if (kept === undefined) throw new Error('the run gave nothing to keep');
  return after - before;
}

interface Repeated {
  readonly operations: number;
  readonly goal?: number;
}

async function repeat(
  measure: () => Promise<number>,
  name: string,
  { operations, ...goal }: Repeated,
): Promise<Figure> {
  const samples: number[] = [];
  for (let count = -2; count < repeats; count += 1) {
    const sample = await measure();
    if (count >= 0) samples.push(sample / operations);
  }
  const { median, min, max } = toSpread(samples);
  return { name, value: Math.round(median), min: Math.round(min), max: Math.round(max), unit: 'B', ...goal };
}

/** Memory of dropped sessions after one young-generation collection. */
async function leftOfDropped(): Promise<number> {
  const before = process.memoryUsage().heapUsed;
  await runMany(dropped, droppedTurns, () => undefined);
  // Awaited values are held until the next turn of the event loop.
  await setImmediate();
  collectGarbage?.({ type: 'minor' });
  return process.memoryUsage().heapUsed - before;
}

const lasting = forgetfulSession();
const figures = [
  // Runs first: V8 pretenures objects that often survive, out of reach of young collections.
  await repeat(leftOfDropped, 'per turn of a dropped session, left after one young collection', {
    operations: dropped * droppedTurns,
    goal: 200,
  }),
  await repeat(
    () => bytesKept(prepareRun(shapeOf(turns))),
    `per turn of a run of ${turns}, with session, log and result kept`,
    { operations: turns },
  ),
  await repeat(
    () => bytesKept(prepareRun(shapeOf(turns, forgetfulSession()))),
    'the same with a store that keeps nothing',
    { operations: turns },
  ),
  await repeat(
    () => bytesKept(() => runMany(runs, shortTurns, () => undefined)),
    `left by each of ${runs} runs of ${shortTurns} turns in dropped sessions`,
    { operations: runs },
  ),
  await repeat(
    () => bytesKept(() => runMany(runs, shortTurns, () => lasting)),
    `left by each of ${runs} runs of ${shortTurns} turns in one session whose store keeps nothing`,
    { operations: runs },
  ),
];
console.log(JSON.stringify(figures));

async function runMany(times: number, length: number, sessionOf: () => Session | undefined): Promise<string> {
  for (let count = 0; count < times; count += 1) await prepareRun(shapeOf(length, sessionOf()))();
  return 'only what they left behind';
}
