import { defineTool, type Tool, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { explainMismatch } from './edit-mismatch.ts';
import { count, lineNumberAt } from './text.ts';

const maxShownLines = 20;

/** Replaces exact text in a file. */
export const editFile: Tool = defineTool({
  name: 'edit_file',
  description:
    'Edit a file: replace an exact piece of text. The old text must occur exactly once unless replaceAll is set.',
  inputSchema: v.object({
    path: v.pipe(v.string(), v.minLength(1), v.description('File to edit, relative to the workspace')),
    oldText: v.pipe(
      v.string(),
      v.minLength(1),
      v.description('Text to replace, exactly as in the file, including indentation'),
    ),
    newText: v.pipe(v.string(), v.description('Replacement text; empty to delete')),
    replaceAll: v.optional(v.pipe(v.boolean(), v.description('Replace every occurrence')), false),
  }),
  outputSchema: v.object({ path: v.string(), replacements: v.number(), firstLine: v.number() }),
  effects: 'state',
  examples: [
    {
      description: 'Rename a variable everywhere in a file',
      input: { path: 'src/main.ts', oldText: 'total', newText: 'sum', replaceAll: true },
      output: { path: 'src/main.ts', replacements: 3, firstLine: 12 },
    },
  ],
  execute: ({ path, oldText, newText, replaceAll }, context) =>
    useFilesystem(context, async (filesystem) => {
      const key = await filesystem.resolve(path);
      const text = await filesystem.readText(path);
      const [wanted, replacement] = [toLineEndsOf(text, oldText), toLineEndsOf(text, newText)];
      if (wanted === replacement) {
        return toolError('`oldText` and `newText` are the same; nothing was changed.', {
          code: 'edit.invalid',
          reason: 'no_change',
        });
      }
      const offsets = findAll(text, wanted);
      const [first] = offsets;
      if (first === undefined) {
        return toolError(
          [
            `\`oldText\` does not occur in \`${key}\`.`,
            explainMismatch(text, wanted) ?? [],
            'Give the text exactly as it is in the file.',
          ]
            .flat()
            .join(' '),
          { code: 'edit.invalid', reason: 'not_found' },
        );
      }
      const shownLines = showLines(text, offsets);
      if (offsets.length > 1 && !replaceAll) {
        return toolError(
          `\`oldText\` occurs ${offsets.length} times in \`${key}\`, on ${shownLines}. ` +
            'Include more of the surrounding text, or set `replaceAll`.',
          { code: 'edit.invalid', reason: 'ambiguous' },
        );
      }
      await filesystem.write(path, text.split(wanted).join(replacement));
      return toolOk(
        { path: key, replacements: offsets.length, firstLine: lineNumberAt(text, first) },
        `Replaced ${count(offsets.length, 'occurrence')} in \`${key}\`, on ${shownLines}.`,
      );
    }),
  renderResult: () => '',
});

/** The offsets of `part`, without overlaps, as `split` finds them. */
function findAll(text: string, part: string): readonly number[] {
  const offsets: number[] = [];
  for (let offset = text.indexOf(part); offset >= 0; offset = text.indexOf(part, offset + part.length))
    offsets.push(offset);
  return offsets;
}

/** Models end lines with a line feed; in a file whose lines all end with carriage return and line feed they mean those. */
function toLineEndsOf(text: string, part: string): string {
  const isCrlf = text.includes('\r\n') && !/(?<!\r)\n/u.test(text);
  return isCrlf ? part.replaceAll(/\r?\n/gu, '\r\n') : part;
}

function showLines(text: string, offsets: readonly number[]): string {
  const lines: number[] = [];
  let line = 1;
  let end = text.indexOf('\n');
  for (const offset of offsets) {
    for (; end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) line += 1;
    if (lines.at(-1) === line) continue;
    if (lines.push(line) > maxShownLines) break;
  }
  const [only] = lines;
  if (lines.length === 1) return `line ${only}`;
  return `lines ${lines.slice(0, maxShownLines).join(', ')}${lines.length > maxShownLines ? ', …' : ''}`;
}
