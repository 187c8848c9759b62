import { defineTool, type Tool, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { useFilesystem } from './context.ts';
import { findSimilarLine } from './similar-line.ts';
import { count, lineNumberAt, shorten } from './text.ts';

const maxShownLines = 20;

/** Replaces text in a file, exactly as it stands there. */
export const editFile: Tool = defineTool({
  name: 'edit_file',
  description:
    'Edit a file: replace one exact piece of its text by another. The old text must occur once, or set replaceAll.',
  inputSchema: v.object({
    path: v.pipe(v.string(), v.minLength(1), v.description('File to edit, relative to the workspace')),
    oldText: v.pipe(
      v.string(),
      v.minLength(1),
      v.description('Text to replace, exactly as in the file, with its indentation'),
    ),
    newText: v.pipe(v.string(), v.description('Text to put in its place; empty deletes')),
    replaceAll: v.optional(v.pipe(v.boolean(), v.description('Whether to replace every occurrence')), false),
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
      if (oldText === newText) {
        return toolError('`oldText` and `newText` are the same; nothing was changed.', { code: 'edit.no_change' });
      }
      const offsets = findAll(text, oldText);
      const [first] = offsets;
      if (first === undefined) return notFound(key, text, oldText);
      const lines = offsets.slice(0, maxShownLines).map((offset) => lineNumberAt(text, offset));
      const shownLines = `${lines.join(', ')}${offsets.length > lines.length ? ', …' : ''}`;
      if (offsets.length > 1 && !replaceAll) {
        return toolError(
          `\`oldText\` occurs ${offsets.length} times in \`${key}\`, on lines ${shownLines}. ` +
            'Give more of the text around the one you mean, or set `replaceAll`.',
          { code: 'edit.ambiguous', value: { lines, matches: offsets.length } },
        );
      }
      await filesystem.write(path, text.split(oldText).join(newText));
      return toolOk(
        { path: key, replacements: offsets.length, firstLine: lineNumberAt(text, first) },
        `Replaced ${count(offsets.length, 'occurrence')} in \`${key}\`, line ${shownLines}.`,
      );
    }),
  renderResult: () => '',
});

/** Where `part` occurs, without overlaps, as `split` finds it. */
function findAll(text: string, part: string): readonly number[] {
  const offsets: number[] = [];
  for (let offset = text.indexOf(part); offset >= 0; offset = text.indexOf(part, offset + part.length))
    offsets.push(offset);
  return offsets;
}

function notFound(key: string, text: string, oldText: string): ReturnType<typeof toolError> {
  const reasons = [`\`oldText\` does not occur in \`${key}\`.`];
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(oldText.replaceAll('\r\n', '\n'))) {
    reasons.push('The lines of the file end with \\r\\n, those of `oldText` do not all.');
  }
  const similar = findSimilarLine(text, oldText);
  if (similar !== undefined) {
    reasons.push(`The most similar line is ${similar.line}: \`${shorten(similar.text, 200)}\`.`);
  }
  reasons.push('Read the file and give the text exactly as it stands there.');
  return toolError(reasons.join(' '), {
    code: 'edit.not_found',
    value: similar === undefined ? {} : { similarLine: similar.line },
  });
}
