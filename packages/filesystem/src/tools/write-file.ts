import { defineTool, type Tool, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { count, splitLines } from './text.ts';

/** Creates a file or replaces its whole content. */
export const writeFile: Tool = defineTool({
  name: 'write_file',
  description: 'Write text to a file: create it and missing folders, or replace all of its content.',
  inputSchema: v.object({
    path: v.pipe(v.string(), v.minLength(1), v.description('File to write, relative to the workspace')),
    content: v.pipe(v.string(), v.description('The whole new text of the file')),
  }),
  outputSchema: v.object({ path: v.string(), bytes: v.number(), lines: v.number(), created: v.boolean() }),
  effects: 'state',
  examples: [
    {
      description: 'A new file',
      input: { path: 'docs/notes.txt', content: 'one\ntwo\n' },
      output: { path: 'docs/notes.txt', bytes: 8, lines: 2, created: true },
    },
  ],
  execute: ({ path, content }, context) =>
    useFilesystem(context, async (filesystem) => {
      const created = (await filesystem.stat(path)) === undefined;
      await filesystem.write(path, content);
      const key = await filesystem.resolve(path);
      const bytes = (await filesystem.stat(path))?.size ?? 0;
      const lines = splitLines(content).length;
      return toolOk(
        { path: key, bytes, lines, created },
        `${created ? 'Created' : 'Replaced'} \`${key}\`: ${count(lines, 'line')}, ${count(bytes, 'byte')}.`,
      );
    }),
  // The message already says everything.
  renderResult: () => '',
});
