import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { compare, type Extent, everything, limitRounds, type Row, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { loops } from './agent-run.ts';
import { scriptedProvider } from './ai-sdk-script.ts';
import { floor } from './one-call.ts';

// Loops whose cost per turn must not grow are compared with this one.
const reference = 1_000;
const callsPerSample = 1_000;
// Samples of long loops are as large as the longest, so that they fill the heap alike.
const callsPerLongSample = 10_000;

/** An agent loop of one call a turn against the floor of as many bare calls; what is reported is the time of one turn. */
export async function measureLoop(extent: Extent = everything): Promise<TimeReport> {
  const lengths = [1, 10, 100, 1_000, 10_000].filter((turns) => turns <= extent.largest);
  const rows: Row[] = [
    ...(await compare(
      [floor(callsPerSample), ...lengths.map(scripted), ...lengths.map((turns) => converted(turns))],
      limitRounds({ rounds: 20, warmUpRounds: 5 }, extent),
    )),
  ];
  // A client that writes the whole conversation down in every turn takes a time that grows with the square of the turns.
  for (const turns of lengths.filter((length) => length > 1 && length <= reference)) {
    const shape = { turns, createModel: () => aiSdkModel(scriptedProvider(turns, { serialises: true })) };
    const against = [{ name: convertedName(turns) }];
    const subjects = [
      { ...converted(turns, callsPerSample), against: [] },
      loops({ name: `${turns.toLocaleString('en')} serialised`, against }, shape, callsPerSample),
    ];
    const [, row] = await compare(subjects, limitRounds({ rounds: 5, warmUpRounds: 1 }, extent));
    if (row !== undefined) rows.push(row);
  }
  const notes = [
    'One governed call a turn: two policies, one event, one state write; nobody listens. Time of one turn.',
    'converted: through `aiSdkModel`, which gives the AI SDK model its whole prompt in every turn.',
    "serialised: a provider's client that also writes that prompt down as JSON in every turn.",
  ];
  return { name: 'call-path: loop', notes, rows };
}

function scripted(turns: number): Subject {
  const against = [
    { name: 'floor', ...(turns === reference ? { goal: 5 } : {}) },
    ...(turns > reference ? [{ name: nameOf(reference), goal: 1.1 }] : []),
  ];
  return loops({ name: nameOf(turns), against }, { turns }, sampleSize(turns));
}

function converted(turns: number, calls: number = sampleSize(turns)): Subject {
  const against = [
    { name: nameOf(turns) },
    ...(turns > reference ? [{ name: convertedName(reference), goal: 1.1 }] : []),
  ];
  const createModel = () => aiSdkModel(scriptedProvider(turns));
  return loops({ name: convertedName(turns), against }, { turns, createModel }, calls);
}

function sampleSize(turns: number): number {
  return turns < reference ? callsPerSample : callsPerLongSample;
}

function nameOf(turns: number): string {
  return turns === 1 ? '1 turn' : `${turns.toLocaleString('en')} turns`;
}

function convertedName(turns: number): string {
  return `${turns.toLocaleString('en')} converted`;
}
