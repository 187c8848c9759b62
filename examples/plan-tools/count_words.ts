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
    // As in `examples/plugins`: runs of letters, digits and joining characters.
    words: text.match(/[\p{L}\p{N}\p{M}]+(?:['’_-][\p{L}\p{N}\p{M}]+)*/gu)?.length ?? 0,
    sentences: countSentences(text),
    letters: text.match(/\p{L}/gu)?.length ?? 0,
  };
}

function countSentences(text: string): number {
  const segments = [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)];
  return segments.filter(({ segment }) => /[\p{L}\p{N}]/u.test(segment)).length;
}
