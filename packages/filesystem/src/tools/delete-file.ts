import { defineTool, type Tool, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';

/** Removes a file or an empty folder. */
export const deleteFile: Tool = defineTool({
  name: 'delete_file',
  description: 'Delete one file, or one empty folder.',
  inputSchema: v.object({
    path: v.pipe(
      v.string(),
      v.minLength(1),
      v.description('File or empty folder to delete, relative to the workspace'),
    ),
  }),
  outputSchema: v.object({ path: v.string() }),
  effects: 'state',
  examples: [{ description: 'Delete a file', input: { path: 'old.txt' }, output: { path: 'old.txt' } }],
  execute: ({ path }, context) =>
    useFilesystem(context, async (filesystem) => {
      const key = await filesystem.resolve(path);
      await filesystem.remove(path);
      return toolOk({ path: key }, `Deleted \`${key}\`.`);
    }),
  renderResult: () => '',
});
