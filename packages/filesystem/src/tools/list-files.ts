import { defineTool, type Tool, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { count, takeShown } from './text.ts';

const maxEntries = 1000;

/** Lists one folder. */
export const listFiles: Tool = defineTool({
  name: 'list_files',
  description: 'List the files and folders in one folder, sorted by name. Does not include subfolders.',
  inputSchema: v.object({
    path: v.optional(v.pipe(v.string(), v.description('Folder to list, relative to the workspace')), '.'),
  }),
  outputSchema: v.object({
    path: v.string(),
    entries: v.array(v.object({ name: v.string(), path: v.string(), type: v.picklist(['file', 'directory']) })),
    /** The number of entries left out. */
    more: v.number(),
  }),
  effects: 'none',
  examples: [
    {
      description: 'The files of the workspace',
      input: { path: '.' },
      output: { path: '', entries: [{ name: 'README.md', path: 'README.md', type: 'file' }], more: 0 },
    },
  ],
  execute: ({ path }, context) =>
    useFilesystem(context, async (filesystem) => {
      const key = await filesystem.resolve(path);
      const all = await filesystem.list(path);
      const shownEntries = takeShown(all, maxEntries, ({ name }) => `${name}/\n`);
      const entries = shownEntries.map(({ name, path: entryPath, type }) => ({ name, path: entryPath, type }));
      const shown = `\`${key === '' ? '/' : key}\``;
      return toolOk(
        { path: key, entries, more: all.length - entries.length },
        all.length === 0 ? `The folder ${shown} is empty.` : `${shown} has ${count(all.length, 'entry', 'entries')}.`,
      );
    }),
  renderResult: ({ entries, more }) =>
    [
      ...entries.map(({ name, type }) => (type === 'directory' ? `${name}/` : name)),
      ...(more > 0 ? [`… ${more} more; find them with glob_files and a pattern`] : []),
    ].join('\n'),
});
