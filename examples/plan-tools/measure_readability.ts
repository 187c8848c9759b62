export const METADATA = {
  name: 'measure_readability',
  function: 'measureReadability',
  description: 'Measure how easily an English text reads: Flesch reading ease.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 1_000_000, description: 'The text' } },
    required: ['text'],
  },
  returns: {
    type: 'object',
    properties: {
      ease: { type: 'number', description: '0 is very hard, 100 very easy' },
      words_per_sentence: { type: 'number' },
      syllables_per_word: { type: 'number' },
    },
    required: ['ease', 'words_per_sentence', 'syllables_per_word'],
    additionalProperties: false,
  },
} as const;

/** R. Flesch, "A new readability yardstick", 1948. Syllables are counted as groups of vowels, which is near enough. */
export function measureReadability({ text }: { readonly text: string }): object {
  const words = text.match(/\p{L}+(?:['’]\p{L}+)*/gu) ?? [];
  if (words.length === 0) throw new Error('There are no words in the text.');
  const sentences = Math.max(1, text.match(/[.!?]+(?=\s|$)/gu)?.length ?? 0);
  const syllables = words.reduce((sum, word) => sum + syllablesOf(word.toLowerCase()), 0);
  const wordsPerSentence = words.length / sentences;
  const syllablesPerWord = syllables / words.length;
  return {
    ease: round(206.835 - 1.015 * wordsPerSentence - 84.6 * syllablesPerWord),
    words_per_sentence: round(wordsPerSentence),
    syllables_per_word: round(syllablesPerWord),
  };
}

function syllablesOf(word: string): number {
  const groups = word.match(/[aeiouy]+/gu)?.length ?? 0;
  const isSilent = word.endsWith('e') && !word.endsWith('le') && groups > 1;
  return Math.max(1, groups - (isSilent ? 1 : 0));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
