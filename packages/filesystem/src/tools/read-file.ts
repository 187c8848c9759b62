import { defineTool, type Tool, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { count, cut, maxShownCharacters, splitLines, takeShown } from './text.ts';

const maxLines = 2000;
const lineNumber = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Reads a text file or a range of its lines. */
export const readFile: Tool = defineTool({
  name: 'read_file',
  description: 'Read the text of a file, or a range of its lines. Long files are returned in parts.',
  inputSchema: v.object({
    path: v.pipe(v.string(), v.minLength(1), v.description('File to read, relative to the workspace')),
    startLine: v.optional(v.pipe(lineNumber, v.description('First line to read, counted from 1')), 1),
    startColumn: v.optional(
      v.pipe(
        lineNumber,
        v.description('First character of the first line to read, counted from 1; for very long lines'),
      ),
      1,
    ),
    endLine: v.optional(v.pipe(lineNumber, v.description('Last line to read; default: to the end of the file'))),
    lineNumbers: v.optional(v.pipe(v.boolean(), v.description('Prefix each line with its number')), false),
  }),
  outputSchema: v.object({
    path: v.string(),
    /** Exactly as in the file, line endings included. */
    text: v.string(),
    startLine: v.number(),
    /** The last line in `text`; below `startLine` if there is none. */
    endLine: v.number(),
    totalLines: v.number(),
    lineNumbers: v.boolean(),
    /** How to read the rest, if anything was left out. */
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
  execute: ({ path, startLine, startColumn, endLine = Number.POSITIVE_INFINITY, lineNumbers }, context) =>
    useFilesystem(context, async (filesystem) => {
      const key = await filesystem.resolve(path);
      const lines = splitLines(await filesystem.readText(path));
      const totalLines = lines.length;
      const reason = findEmptyRange({ lines, startLine, startColumn, endLine });
      if (reason !== undefined) {
        return toolError(`Nothing to read in \`${key}\`: ${reason}.`, { code: 'file.invalid', reason: 'range_empty' });
      }
      const wanted = lines.slice(startLine - 1, endLine);
      const first = wanted[0] ?? '';
      // A surrogate pair split by the caller is replaced.
      wanted.splice(0, 1, ...(wanted.length > 0 ? [first.slice(startColumn - 1).toWellFormed()] : []));
      const taken = [...takeShown(wanted, maxLines, (line) => line)];
      const notes: string[] = [];
      const [start] = wanted;
      if (taken.length === 0 && start !== undefined) {
        const part = cut(start, maxShownCharacters);
        taken.push(part);
        const end = startColumn - 1 + part.length;
        notes.push(
          `Line ${startLine} is cut after ${end} of ${first.length} characters; continue with startLine=${startLine} and startColumn=${end + 1}.`,
        );
      }
      const last = startLine + taken.length - 1;
      const left = wanted.length - taken.length;
      if (left > 0) notes.push(`${count(left, 'more line')}; continue with startLine=${last + 1}.`);
      const note = notes.join(' ');
      const range =
        taken.length === totalLines
          ? count(totalLines, 'line')
          : `${startLine === last ? `line ${last}` : `lines ${startLine} to ${last}`} of ${totalLines}`;
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

interface Range {
  readonly lines: readonly string[];
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
}

/** The reason why a range is empty. An empty file may still be read from its beginning. */
function findEmptyRange({ lines, startLine, startColumn, endLine }: Range): string | undefined {
  if (endLine < startLine) return `\`endLine\` ${endLine} is before \`startLine\` ${startLine}`;
  if (startLine > Math.max(lines.length, 1)) {
    return lines.length === 0 ? 'it is empty' : `it has only ${count(lines.length, 'line')}`;
  }
  const length = lines[startLine - 1]?.length ?? 0;
  return startColumn > Math.max(length, 1) ? `line ${startLine} has only ${count(length, 'character')}` : undefined;
}
