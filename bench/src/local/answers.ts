import type { LlamaModel } from '@holdfast/adapter-llama-cpp';
import { compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { loadBare } from './bare-binding.ts';
import { answer, createRequests, firstEvent, loadTiny } from './tiny-model.ts';

const together = 4;

/** Measures a request: to the first token, and to the end of a call, with and without a grammar. */
export async function measureAnswers(extent: Extent = everything): Promise<readonly TimeReport[]> {
  await using bare = await loadBare();
  await using constrained = await loadTiny();
  await using free = await loadTiny({ constrain: false });
  await using several = await loadTiny({ sequences: together });
  const next = createRequests();
  const untooled = () => ({ ...next(), tools: [] });
  const bareAnswer = { name: 'binding', operations: 1, prepare: () => () => bare.answer(next()) };
  const ask = (name: string, model: LlamaModel): Subject => ({
    name,
    operations: 1,
    against: [{ name: 'binding' }],
    prepare: () => () => answer(model.stream(next())),
  });
  const options = limitRounds({ rounds: 40, warmUpRounds: 5 }, extent);
  return [
    {
      name: 'local: to the first token',
      notes: [
        'One sentence, never the same one, and no tools: a call is told when it is whole. binding: node-llama-cpp alone, the same tokens.',
      ],
      rows: await compare(
        [
          { name: 'binding', operations: 1, prepare: () => () => bare.first(untooled()) },
          {
            name: 'first event',
            operations: 1,
            against: [{ name: 'binding' }],
            prepare: () => () => firstEvent(free.stream(untooled())),
          },
        ],
        options,
      ),
    },
    {
      name: 'local: an answer',
      notes: [
        'Three tools beside the sentence, to the end of the answer. binding and "without a grammar" write what the model likes; "with a grammar" can write a call',
        'of an offered tool with arguments of its schema only. "four at once": the time of one of four that are asked together.',
      ],
      rows: await compare(
        [
          bareAnswer,
          ask('without a grammar', free),
          { ...ask('with a grammar', constrained), against: [{ name: 'binding' }, { name: 'without a grammar' }] },
          {
            name: 'four at once',
            operations: together,
            against: [{ name: 'with a grammar' }],
            prepare: () => () => Promise.all(Array.from({ length: together }, () => answer(several.stream(next())))),
          },
        ],
        options,
      ),
    },
  ];
}
