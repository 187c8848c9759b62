/** What a new tool file is written in. */
export type ToolLanguage = 'javascript' | 'typescript';

/** Endings under which Node.js takes a file for a module, whatever stands in a package.json above. */
export const languageEndings: Readonly<Record<ToolLanguage, string>> = { javascript: '.mjs', typescript: '.mts' };

/** The text of a tool file that is good as it is, and is meant to be changed. */
export function toToolText(name: string, language: ToolLanguage): string {
  const isTyped = language === 'typescript';
  const run = toFunctionName(name);
  const signature = isTyped
    ? `${run}({ text }: { readonly text: string }): { readonly shouted: string; readonly characters: number }`
    : `${run}({ text })`;
  return `// What METADATA says is read without running this file; every line has to be a literal.
export const METADATA = {
  name: '${name}',
  function: '${run}',
  // For the model: what the tool does, and when to use it.
  description: 'Write a text in capitals and count its characters.',
  // false: it changes nothing outside. true: a person is asked before each call.
  dangerous: false,
  // environment: ['SERVICE_API_KEY'],  what it reads from process.env; \`--env SERVICE_API_KEY\` grants it.
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
  // The model sees them, and \`holdfast try\` holds the tool to them.
  examples: [
    { description: 'A short text', input: { text: 'Milk!' }, output: { shouted: 'MILK!', characters: 5 } },
  ],
}${isTyped ? ' as const' : ''};

// What it returns must be JSON. What it throws is its failure: the model gets the message.
export function ${signature} {
  return { shouted: text.toUpperCase(), characters: [...text].length };
}
`;
}

// The word before the name makes an identifier of names that begin with a digit or are words of the language.
function toFunctionName(name: string): string {
  const words = name.split(/[_-]+/).filter((word) => word !== '');
  return ['run', ...words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)].join('');
}
