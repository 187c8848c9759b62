export const METADATA = {
  name: 'count_words',
  function: 'countWords',
  description: 'Count the words, sentences and letters of a text.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 1_000_000, description: 'The text' } },
    required: ['text'],
  },
  returns: {
    type: 'object',
    properties: {
      opening: { type: 'string', description: 'The first line, to know the text by' },
      words: { type: 'integer', minimum: 0 },
      sentences: { type: 'integer', minimum: 0 },
      letters: { type: 'integer', minimum: 0 },
    },
    required: ['opening', 'words', 'sentences', 'letters'],
    additionalProperties: false,
  },
} as const;

export function countWords({ text }: { readonly text: string }): object {
  const opening = text
    .split('\n')
    .map((line) => line.replace(/^[#\s]+/u, '').trim())
    .find((line) => line !== '');
  return {
    opening: (opening ?? '').slice(0, 60),
    words: count(text, 'word', (segment) => segment.isWordLike === true),
    sentences: count(text, 'sentence', ({ segment }) => /[\p{L}\p{N}]/u.test(segment)),
    letters: text.match(/\p{L}/gu)?.length ?? 0,
  };
}

function count(text: string, granularity: 'word' | 'sentence', isOne: (segment: Intl.SegmentData) => boolean): number {
  let found = 0;
  for (const segment of new Intl.Segmenter('en', { granularity }).segment(text)) if (isOne(segment)) found += 1;
  return found;
}
