import { compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { loops } from './agent-run.ts';
import { readingForecast, writingForecast } from './forecast.ts';
import { governedCalls } from './one-call.ts';

const callsPerSample = 200;

/** Many calls in one message of the model: what each costs, against a governed call on its own. */
export async function measureTurn(extent: Extent = everything): Promise<TimeReport> {
  const sizes = [1, 10, 100, 1_000].filter((size) => size <= extent.largest);
  const rows = await compare(
    [
      governedCalls({ name: 'one, state', listening: 'nobody', against: [] }),
      ...sizes.map((calls) => turnOf(calls, 'state')),
      governedCalls({ name: 'one, none', listening: 'nobody', tool: readingForecast, against: [] }),
      ...sizes.map((calls) => turnOf(calls, 'none')),
    ],
    limitRounds({ rounds: 60, warmUpRounds: 20 }, extent),
  );
  const notes = [
    'Time of one call in a turn of as many, its share of the run included. one: a direct governed call.',
    'state: tools that write one item each. none: tools that declare to touch nothing, which may run beside each other.',
  ];
  return { name: 'call-path: turn', notes, rows };
}

function turnOf(calls: number, effects: 'state' | 'none'): Subject {
  return loops(
    {
      name: `${calls.toLocaleString('en')} in a turn, ${effects}`,
      against: [{ name: `one, ${effects}`, ...(calls === 100 ? { goal: 3 } : {}) }],
    },
    { turns: 1, callsPerTurn: calls, tool: effects === 'state' ? writingForecast : readingForecast },
    callsPerSample,
  );
}
