import { defineTool, type Tool, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { count, maxShownCharacters, splitLines } from './text.ts';

const maxLines = 2000;
const lineNumber = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Reads a text file, or a range of its lines. */
export const readFile: Tool = defineTool({
  name: 'read_file',
  description: 'Read the text of a file, or some of its lines. Long files come in parts.',
  inputSchema: v.object({
    path: v.pipe(v.string(), v.minLength(1), v.description('File to read, relative to the workspace')),
    startLine: v.optional(v.pipe(lineNumber, v.description('First line to read, counted from 1')), 1),
    endLine: v.optional(v.pipe(lineNumber, v.description('Last line to read; default: to the end of the file'))),
    lineNumbers: v.optional(v.pipe(v.boolean(), v.description('Whether to put its number before each line')), false),
  }),
  outputSchema: v.object({
    path: v.string(),
    /** Exactly as in the file, line ends included. */
    text: v.string(),
    startLine: v.number(),
    /** The last line in `text`; below `startLine` when there is none. */
    endLine: v.number(),
    totalLines: v.number(),
    lineNumbers: v.boolean(),
    /** How to get the rest, when something was left out. */
    note: v.optional(v.string()),
  }),
  effects: 'none',
  examples: [
    {
      description: 'The first two lines of a file',
      input: { path: 'notes.txt', endLine: 2 },
      output: { path: 'notes.txt', text: 'one\ntwo\n', startLine: 1, endLine: 2, totalLines: 9, lineNumbers: false },
    },
  ],
  execute: ({ path, startLine, endLine = Number.POSITIVE_INFINITY, lineNumbers }, context) =>
    useFilesystem(context, async (filesystem) => {
      const key = await filesystem.resolve(path);
      const lines = splitLines(await filesystem.readText(path));
      const totalLines = lines.length;
      if (endLine < startLine || startLine > Math.max(totalLines, 1)) {
        return toolError(
          `\`${key}\` has ${count(totalLines, 'line')}; there are none from ${startLine} to ${endLine}.`,
          {
            code: 'read.range_empty',
            value: { totalLines },
          },
        );
      }
      const wanted = lines.slice(startLine - 1, endLine);
      const taken: string[] = [];
      let length = 0;
      for (const line of wanted.slice(0, maxLines)) {
        length += line.length;
        if (length > maxShownCharacters) break;
        taken.push(line);
      }
      let note: string | undefined;
      const first = wanted[0];
      if (taken.length === 0 && first !== undefined) {
        taken.push(first.slice(0, maxShownCharacters).toWellFormed());
        note = `Line ${startLine} is cut after ${maxShownCharacters} of ${first.length} characters; search in it with grep_files.`;
      }
      const last = startLine + taken.length - 1;
      const left = wanted.length - taken.length;
      if (left > 0) note = `${note ?? ''} ${count(left, 'more line')}, read with startLine=${last + 1}.`.trimStart();
      const range =
        taken.length === totalLines ? count(totalLines, 'line') : `lines ${startLine} to ${last} of ${totalLines}`;
      return toolOk(
        { path: key, text: taken.join(''), startLine, endLine: last, totalLines, lineNumbers, ...(note && { note }) },
        totalLines === 0 ? `\`${key}\` is empty.` : `\`${key}\`, ${range}.`,
      );
    }),
  renderResult({ text, startLine, lineNumbers, note }) {
    const lines = lineNumbers ? splitLines(text).map((line, index) => `${startLine + index}\t${line}`) : [text];
    return `${lines.join('')}${note === undefined ? '' : `${text.endsWith('\n') ? '' : '\n'}… ${note}`}`;
  },
});
