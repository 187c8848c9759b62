/** The language of a new tool file. */
export type ToolLanguage = 'javascript' | 'typescript';

/** Extensions that Node.js treats as modules regardless of package.json. */
export const languageEndings: Readonly<Record<ToolLanguage, string>> = { javascript: '.mjs', typescript: '.mts' };

/** The text of a working tool file to start from. */
export function toToolText(name: string, language: ToolLanguage): string {
  const isTyped = language === 'typescript';
  const run = toFunctionName(name);
  const signature = isTyped
    ? `${run}({ text }: { readonly text: string }): { readonly shouted: string; readonly characters: number }`
    : `${run}({ text })`;
  return `// METADATA is read without running this file, so every value must be a literal.
export const METADATA = {
  name: '${name}',
  function: '${run}',
  // For the model: what the tool does and when to use it.
  description: 'Write a text in capitals and count its characters.',
  // true: every call needs approval. false: the tool is harmless.
  dangerous: false,
  // environment: ['SERVICE_API_KEY'],  variables it reads from process.env; grant with \`--env SERVICE_API_KEY\`.
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1, maxLength: 10000, description: 'The text' },
    },
    required: ['text'],
  },
  returns: {
    type: 'object',
    properties: { shouted: { type: 'string' }, characters: { type: 'integer' } },
    required: ['shouted', 'characters'],
  },
  // Shown to the model, and checked by \`holdfast try\`.
  examples: [
    { description: 'A short text', input: { text: 'Milk!' }, output: { shouted: 'MILK!', characters: 5 } },
  ],
}${isTyped ? ' as const' : ''};

// Returns JSON. Throws to fail: the model gets the message.
export function ${signature} {
  return { shouted: text.toUpperCase(), characters: [...text].length };
}
`;
}

// The prefix makes an identifier of names that begin with a digit or are reserved words.
function toFunctionName(name: string): string {
  const words = name.split(/[_-]+/).filter((word) => word !== '');
  return ['run', ...words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)].join('');
}
