import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { compare, cpuNow, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { loops } from './agent-run.ts';
import { scriptedProvider } from './ai-sdk-script.ts';

const short = 1_000;
const limit = 1.05;

/** Compares the time of one turn in long and short loops. */
export async function measureLoop(extent: Extent = everything): Promise<TimeReport> {
  const rows = await compare(
    [...lengths('turns', 10_000, extent), ...lengths('turns through the AI SDK', 20_000, extent)],
    { ...limitRounds({ rounds: 20, warmUpRounds: 5 }, extent), now: cpuNow },
  );
  const notes = [
    'CPU time of the process, all threads. Each sample has as many turns, in one long loop or in many of 1,000.',
    'through the AI SDK: `aiSdkModel`, which hands its whole prompt to an AI SDK model in every turn.',
  ];
  return { name: 'call-path: loop', notes, rows };
}

function lengths(what: 'turns' | 'turns through the AI SDK', longest: number, { largest }: Extent): readonly Subject[] {
  const [few, many] = [Math.min(short, largest), Math.min(longest, largest * 2)];
  const nameOf = (turns: number): string => `${turns.toLocaleString('en')} ${what}`;
  const shapeOf = (turns: number) =>
    what === 'turns' ? { turns } : { turns, createModel: () => aiSdkModel(scriptedProvider(turns)) };
  return [
    loops({ name: nameOf(few) }, shapeOf(few), many),
    loops({ name: nameOf(many), against: [{ name: nameOf(few), goal: limit }] }, shapeOf(many), many),
  ];
}
