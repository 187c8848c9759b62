import { type Part, parts } from '../arguments.ts';
import type { Report } from '../report.ts';
import { measureCold } from './cold.ts';
import { measureGoals } from './goals.ts';
import { measureLoop } from './loop.ts';
import { measureMemory } from './memory.ts';
import { measurePeers } from './peers.ts';
import { measureStateSize } from './state-size.ts';

const measures: Readonly<Record<Part, () => Promise<Report>>> = {
  peers: measurePeers,
  goals: measureGoals,
  cold: measureCold,
  loop: measureLoop,
  'state-size': measureStateSize,
  memory: measureMemory,
};

/** By command-line name: `call-path/loop`. */
export const partMeasures: ReadonlyMap<string, () => Promise<Report>> = new Map(
  parts.map((part) => [`call-path/${part}`, measures[part]]),
);
