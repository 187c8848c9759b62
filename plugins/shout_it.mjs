// What METADATA says is read without running this file; every line has to be a literal.
export const METADATA = {
  name: 'shout_it',
  function: 'runShoutIt',
  // For the model: what the tool does, and when to use it.
  description: 'Write a text in capitals and count its characters.',
  // false: it changes nothing outside. true: a person is asked before each call.
  dangerous: false,
  // environment: ['SERVICE_API_KEY'],  what it reads from process.env; `--env SERVICE_API_KEY` grants it.
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
  // The model sees them, and `holdfast try` holds the tool to them.
  examples: [
    { description: 'A short text', input: { text: 'Milk!' }, output: { shouted: 'MILK!', characters: 5 } },
  ],
};

// What it returns must be JSON. What it throws is its failure: the model gets the message.
export function runShoutIt({ text }) {
  return { shouted: text.toUpperCase(), characters: [...text].length };
}
