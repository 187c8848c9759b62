import { definePlugin, defineTool, type ExecutableTool, type Plugin, toolOk } from '@holdfast/core';
import * as v from 'valibot';

/** Counts the words of a text. Make it yours. */
export const countWords: ExecutableTool<{ readonly text: string }, { readonly words: number }> = defineTool({
  name: 'count_words',
  // For the model: what the tool does, and when to use it.
  description: 'Count the words of a text.',
  inputSchema: v.object({ text: v.pipe(v.string(), v.maxLength(100_000), v.description('The text')) }),
  outputSchema: v.object({ words: v.number() }),
  // It changes nothing. 'state': session and files only. 'external': the world.
  effects: 'none',
  examples: [{ description: 'Two words', input: { text: 'Good morning' }, output: { words: 2 } }],
  execute: ({ text }) => toolOk({ words: text.split(/\s+/).filter((word) => word !== '').length }),
});

export const textTools: Plugin = definePlugin({
  name: 'text-tools',
  version: '0.1.0', // That of package.json.
  description: 'Counts words.',
  holdfast: '>=0.0.0 <1',
  tools: [countWords],
});
