import { compare, type Extent, everything, limitRounds } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { loadBare, readModelFile } from './bare-binding.ts';
import { loadTiny } from './tiny-model.ts';

/** Measures the time from the file to a ready model. */
export async function measureLoading(extent: Extent = everything): Promise<TimeReport> {
  return {
    name: 'local: loading',
    notes: [
      'file: its bytes read. binding: node-llama-cpp alone, with a context. Both of the others end what they began.',
    ],
    rows: await compare(
      [
        { name: 'file', operations: 1, prepare: () => readModelFile },
        {
          name: 'binding',
          operations: 1,
          prepare: () => async () => {
            await using bare = await loadBare();
            return bare;
          },
        },
        {
          name: 'loadLlamaModel',
          operations: 1,
          against: [{ name: 'binding' }, { name: 'file' }],
          prepare: () => async () => {
            await using model = await loadTiny();
            return model;
          },
        },
      ],
      limitRounds({ rounds: 15, warmUpRounds: 2 }, extent),
    ),
  };
}
