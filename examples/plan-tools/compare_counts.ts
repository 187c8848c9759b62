export const METADATA = {
  name: 'compare_counts',
  function: 'compareCounts',
  description: 'Compare the word counts of several texts in a report.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      counts: {
        type: 'array',
        minItems: 2,
        maxItems: 100,
        description: 'What was counted, text by text',
        items: {
          type: 'object',
          properties: {
            opening: { type: 'string' },
            words: { type: 'integer', minimum: 0 },
            sentences: { type: 'integer', minimum: 0 },
            letters: { type: 'integer', minimum: 0 },
          },
          required: ['opening', 'words', 'sentences', 'letters'],
        },
      },
    },
    required: ['counts'],
  },
  returns: {
    type: 'object',
    properties: {
      report: { type: 'string', description: 'Markdown' },
      longest: { type: 'string', description: 'The opening of the text with the most words' },
    },
    required: ['report', 'longest'],
    additionalProperties: false,
  },
} as const;

interface Counts {
  readonly opening: string;
  readonly words: number;
  readonly sentences: number;
  readonly letters: number;
}

export function compareCounts({ counts }: { readonly counts: readonly Counts[] }): object {
  const longest = counts.reduce((most, each) => (each.words > most.words ? each : most));
  const lines = counts.map(
    ({ opening, words, sentences, letters }) => `| ${toCell(opening)} | ${words} | ${sentences} | ${letters} |`,
  );
  const others = counts.filter((each) => each !== longest);
  const second = Math.max(...others.map(({ words }) => words));
  const verdict =
    second === longest.words
      ? `${counts.filter(({ words }) => words === longest.words).length} texts have ${longest.words} words each, and none has more.`
      : `"${toCell(longest.opening)}" is the longest, with ${longest.words - second} more words than the next.`;
  const head = '| Text | Words | Sentences | Letters |\n| --- | ---: | ---: | ---: |';
  return { report: `# Comparison\n\n${head}\n${lines.join('\n')}\n\n${verdict}\n`, longest: longest.opening };
}

/** Text must not end its table cell. */
function toCell(text: string): string {
  return text.replaceAll(/[|\\\r\n]/gu, ' ');
}
