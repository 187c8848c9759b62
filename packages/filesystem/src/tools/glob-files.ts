import { defineTool, type Tool, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { compileGlob } from './glob.ts';
import { count, takeShown } from './text.ts';

const maxPaths = 1000;

/** Finds files by path. */
export const globFiles: Tool = defineTool({
  name: 'glob_files',
  description: 'Find files by a name pattern such as *.md (in any folder) or src/**/*.ts. Skips .git and node_modules.',
  inputSchema: v.object({
    pattern: v.pipe(v.string(), v.minLength(1), v.description('Pattern with *, ?, **, [a-z] and {a,b}')),
  }),
  outputSchema: v.object({
    paths: v.array(v.string()),
    /** The number of files left out. */
    more: v.number(),
  }),
  effects: 'none',
  examples: [
    {
      description: 'All Markdown files',
      input: { pattern: '*.md' },
      output: { paths: ['README.md', 'docs/a.md'], more: 0 },
    },
  ],
  execute: ({ pattern }, context) =>
    useFilesystem(context, async (filesystem) => {
      const { base, folder, matches } = compileGlob(pattern);
      const found: string[] = [];
      if ((await filesystem.stat(base)) !== undefined) {
        for await (const { path } of filesystem.walk(base)) {
          context.signal.throwIfAborted();
          if (matches(path)) found.push(path);
        }
      }
      const paths = takeShown(found, maxPaths, (path) => `${path}\n`);
      return toolOk(
        { paths: [...paths], more: found.length - paths.length },
        found.length > 0
          ? `${count(found.length, 'file matches', 'files match')} \`${pattern}\`.`
          : (await filesystem.stat(folder))?.type === 'directory'
            ? `\`${pattern}\` is a folder; \`${folder}/**\` finds the files in it.`
            : `No file matches \`${pattern}\`.`,
      );
    }),
  renderResult: ({ paths, more }) =>
    [...paths, ...(more > 0 ? [`… ${more} more; use a narrower pattern`] : [])].join('\n'),
});
