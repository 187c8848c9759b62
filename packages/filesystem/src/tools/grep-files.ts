import {
  defineTool,
  type Filesystem,
  HoldfastError,
  isHoldfastError,
  type Tool,
  type ToolContext,
  toolOk,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import * as v from 'valibot';
import { toText } from '../staging/content.ts';
import { useFilesystem } from './context.ts';
import { compileGlob } from './glob.ts';
import { type LinePattern, regularExpression, textPattern } from './line-pattern.ts';
import { count, maxShownCharacters, shorten } from './text.ts';

const maxMatches = 500;
const maxShownLine = 300;
const maxBeforeMatch = 100;
const filesAtOnce = 16;

const match = v.object({ path: v.string(), line: v.number(), text: v.string() });

const resultSchema = v.object({
  matches: v.array(match),
  /** The number of matching lines left out. */
  more: v.number(),
  filesSearched: v.number(),
  /** Files not searched, or not completely. */
  notes: v.array(v.string()),
});

/** Searches the text of files line by line. */
export const grepFiles: Tool = defineTool({
  name: 'grep_files',
  description:
    'Search the text of files for a word or a regular expression. Returns the path, line number and line of each match.',
  inputSchema: v.object({
    pattern: v.pipe(v.string(), v.minLength(1), v.description('Regular expression or text to search for')),
    literal: v.optional(v.pipe(v.boolean(), v.description('Treat the pattern as plain text')), false),
    path: v.optional(v.pipe(v.string(), v.description('Folder or file to search in')), '.'),
    glob: v.optional(v.pipe(v.string(), v.minLength(1), v.description('Only files that match, such as *.ts'))),
    ignoreCase: v.optional(v.pipe(v.boolean(), v.description('Ignore letter case')), false),
  }),
  outputSchema: resultSchema,
  effects: 'none',
  examples: [
    {
      description: 'All TODO comments in TypeScript files',
      input: { pattern: 'TODO', glob: '*.ts' },
      output: {
        matches: [{ path: 'src/a.ts', line: 3, text: '// TODO: later' }],
        more: 0,
        filesSearched: 8,
        notes: [],
      },
    },
  ],
  execute: ({ pattern, literal, path, glob, ignoreCase }, context) =>
    useFilesystem(context, async (filesystem) => {
      const wanted = literal ? textPattern(pattern, ignoreCase) : regularExpression(pattern, ignoreCase);
      const chosen = glob === undefined ? undefined : compileGlob(glob);
      const search = createSearch(wanted, context);
      let batch: string[] = [];
      const searchBatch = async () => {
        const contents = await Promise.all(batch.map((file) => readIfPossible(filesystem, file)));
        for (const [index, file] of batch.entries()) search.add(file, contents[index]);
        batch = [];
      };
      for await (const { path: file } of filesystem.walk(path)) {
        context.signal.throwIfAborted();
        if (chosen?.matches(file) ?? true) batch.push(file);
        if (batch.length === filesAtOnce) await searchBatch();
      }
      await searchBatch();
      const result = search.finish();
      const total = result.matches.length + result.more;
      const found = total === 0 ? 'No line matches' : `${count(total, 'line matches', 'lines match')}`;
      return toolOk(result, `${found} \`${shorten(pattern, 100)}\` in ${count(result.filesSearched, 'file')}.`);
    }),
  renderResult: ({ matches, more, notes }) =>
    [
      ...matches.map(({ path, line, text }) => `${path}:${line}: ${text}`),
      ...(more > 0 ? [`… ${more} more; narrow the search with \`path\`, \`glob\` or a longer pattern`] : []),
      ...notes,
    ].join('\n'),
});

type SearchResult = v.InferOutput<typeof resultSchema>;

/** The content of a file for a search. */
type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'binary' | 'too large' | 'unreadable' };

// Searching a file does not count as reading it: a policy that requires reading before writing must not be satisfied by a search.
async function readIfPossible(filesystem: Filesystem, path: string): Promise<Content | undefined> {
  try {
    const text = toText(await filesystem.read(path, { peek: true }));
    return text === undefined ? { type: 'binary' } : { type: 'text', text };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    switch (describeCode(error)) {
      case 'file.missing':
        // Deleted since it was listed.
        return undefined;
      case 'file.invalid: too_large':
        return { type: 'too large' };
      case 'file.unreadable':
        return { type: 'unreadable' };
      default:
        throw error;
    }
  }
}

interface Search {
  add(path: string, content: Content | undefined): void;
  finish(): SearchResult;
}

function createSearch(pattern: LinePattern, { deadline }: ToolContext): Search {
  const matches: v.InferOutput<typeof match>[] = [];
  const skipped = new Map<string, number>();
  let total = 0;
  let shown = 0;
  let filesSearched = 0;
  let cutLines = 0;

  function addLine(path: string, line: number, text: string): void {
    // The signal cannot fire during synchronous work, so check the remaining time.
    if (deadline.remainingMs() <= 0) {
      throw new HoldfastError('pattern.invalid', 'The search timed out. Narrow it with `path` or `glob`.', {
        data: { reason: 'timed_out' },
      });
    }
    const cut = text.length > pattern.maxLineLength;
    if (cut) cutLines += 1;
    const offset = pattern.find(cut ? text.slice(0, pattern.maxLineLength) : text);
    if (offset < 0) return;
    total += 1;
    if (matches.length >= maxMatches || shown >= maxShownCharacters) return;
    const found = { path, line, text: showAround(text, offset) };
    shown += path.length + found.text.length;
    matches.push(found);
  }

  return {
    add(path, content) {
      if (content === undefined) return;
      if (content.type !== 'text') {
        skipped.set(content.type, (skipped.get(content.type) ?? 0) + 1);
        return;
      }
      filesSearched += 1;
      // A byte order mark is not part of the first line.
      const lines = content.text.replace(/^\ufeff/u, '').split(/\r?\n/u);
      if (lines.at(-1) === '') lines.pop();
      for (const [index, text] of lines.entries()) addLine(path, index + 1, text);
    },
    finish() {
      const notes = Array.from(skipped, ([reason, amount]) => `Skipped ${count(amount, 'file')}: ${reason}.`);
      if (cutLines > 0) {
        notes.push(
          `Searched only the first ${pattern.maxLineLength} characters of ${count(cutLines, 'long line')}; plain text patterns search whole lines.`,
        );
      }
      return { matches, more: total - matches.length, filesSearched, notes };
    },
  };
}

/** The part of a long line around the match. */
function showAround(text: string, offset: number): string {
  if (text.length <= maxShownLine) return text;
  const start = offset > maxShownLine - maxBeforeMatch ? offset - maxBeforeMatch : 0;
  return `${start > 0 ? '…' : ''}${shorten(text.slice(start).toWellFormed(), maxShownLine)}`;
}
