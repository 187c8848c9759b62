import { defineTool, type Tool, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { compileGlob } from './glob.ts';
import { count } from './text.ts';

const maxPaths = 1000;

/** Finds files by their path. */
export const globFiles: Tool = defineTool({
  name: 'glob_files',
  description: 'Find files by a name pattern such as *.md (in any folder) or src/**/*.ts. Skips .git and node_modules.',
  inputSchema: v.object({
    pattern: v.pipe(v.string(), v.minLength(1), v.description('Pattern with *, ?, **, [a-z] and {a,b}')),
  }),
  outputSchema: v.object({
    paths: v.array(v.string()),
    /** Files that were left out. */
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
      const { base, matches } = compileGlob(pattern);
      const paths: string[] = [];
      let total = 0;
      if ((await filesystem.stat(base)) !== undefined) {
        for await (const { path } of filesystem.walk(base)) {
          context.signal.throwIfAborted();
          if (!matches(path)) continue;
          total += 1;
          if (paths.length < maxPaths) paths.push(path);
        }
      }
      return toolOk(
        { paths, more: total - paths.length },
        total === 0
          ? `No file matches \`${pattern}\`.`
          : `${count(total, 'file matches', 'files match')} \`${pattern}\`.`,
      );
    }),
  renderResult: ({ paths, more }) =>
    [...paths, ...(more > 0 ? [`… ${more} more; use a pattern that names a folder`] : [])].join('\n'),
});
