import { compare, cpuNow, type Extent, everything, limitRounds } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { loops } from './agent-run.ts';
import { callValidated, governedFloor, loopValidated } from './floors.ts';
import { callBare, forecasting } from './forecast.ts';
import { calls, callsPerSample, governed, throwing } from './governed.ts';

/** The goals of DESIGN 16 for one warm call, alone and in a loop. */
export async function measureGoals(extent: Extent = everything): Promise<TimeReport> {
  const rows = await compare(
    [
      calls({ name: 'validated floor' }, callValidated),
      calls({ name: 'governed floor', against: [{ name: 'validated floor' }] }, governedFloor(false)),
      calls({ name: 'governed floor, throws' }, governedFloor(true)),
      governed({
        name: 'governed',
        against: [
          { name: 'validated floor', goal: 3 },
          { name: 'governed floor', goal: 1.6 },
        ],
      }),
      governed({ name: 'nobody listens', heard: false, against: [{ name: 'governed', goal: 1.05 }] }),
      governed({
        name: 'throws',
        work: throwing,
        kind: 'failed',
        against: [{ name: 'governed', goal: 1.5 }, { name: 'governed floor, throws' }],
      }),
      governed({ name: 'among 5,000 tools', others: 4_999, against: [{ name: 'governed', goal: 1.05 }] }),
      calls({ name: 'floor of a write' }, callBare),
      governed({ name: 'a write', work: forecasting, against: [{ name: 'floor of a write' }] }),
      { name: 'loop floor', operations: callsPerSample, prepare: () => () => loopValidated(callsPerSample) },
      loops({ name: '1,000 turns', against: [{ name: 'loop floor' }, { name: 'governed' }] }, { turns: 1_000 }),
      loops(
        { name: '100 calls in a turn', goalNs: 5_000, against: [{ name: 'validated floor' }] },
        { turns: 1, width: 100 },
      ),
    ],
    { ...limitRounds({ rounds: 60, warmUpRounds: 15 }, extent), now: cpuNow },
  );
  const notes = [
    'CPU time of the process, all threads. governed: two policies without and one with state, one listener.',
    'a write: another tool that dispatches one event, which writes one item; two policies with state.',
  ];
  return { name: 'call-path: warm calls', notes, rows };
}
