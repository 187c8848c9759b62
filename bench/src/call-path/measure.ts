import { type Part, parts } from '../arguments.ts';
import type { Report } from '../report.ts';
import { measureGoals } from './goals.ts';
import { measureLoop } from './loop.ts';
import { measureMemory } from './memory.ts';
import { measureOneCall } from './one-call.ts';
import { measurePeers } from './peers.ts';
import { measureStateSize } from './state-size.ts';
import { measureTurn } from './turn.ts';

const measures: Readonly<Record<Part, () => Promise<Report>>> = {
  goals: measureGoals,
  'one-call': measureOneCall,
  turn: measureTurn,
  loop: measureLoop,
  'state-size': measureStateSize,
  peers: measurePeers,
  memory: measureMemory,
};

/** By the names that people give: `call-path/loop`. */
export const partMeasures: ReadonlyMap<string, () => Promise<Report>> = new Map(
  parts.map((part) => [`call-path/${part}`, measures[part]]),
);

/** All of them in one process: each finds the compiler as those before it left it. */
export async function measureCallPath(): Promise<readonly Report[]> {
  const reports: Report[] = [];
  for (const [name, measure] of partMeasures) {
    console.error(`bench: measuring ${name} ...`);
    reports.push(await measure());
  }
  return reports;
}
