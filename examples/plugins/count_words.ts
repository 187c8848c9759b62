import type { ToolContext } from '@holdfast/core';

export const METADATA = {
  name: 'count_words',
  function: 'countWords',
  description: 'Count the words, lines and characters of one file, or of all files with a name ending.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      file: { type: 'string', description: 'Path of the file to count; leave it out to count many files' },
      ending: { type: 'string', default: '', description: 'Count all files whose name has this ending, such as .md' },
      folder: {
        type: 'string',
        default: '',
        description: 'Folder whose files are counted; empty for the whole workspace',
      },
    },
  },
} as const;

interface Counts {
  readonly words: number;
  readonly lines: number;
  readonly characters: number;
}

const maxFiles = 100;
const decoder = new TextDecoder('utf-8', { fatal: true });

export async function countWords(
  { file, ending = '', folder = '' }: { file?: string; ending?: string; folder?: string },
  { filesystem, signal }: ToolContext,
): Promise<object> {
  if (filesystem === undefined) throw new Error('This tool needs a workspace.');
  if (file !== undefined) return { file, ...count(await filesystem.readText(file)) };
  const suffix = ending.replace(/^\*/, '');
  const files: (Counts & { file: string })[] = [];
  let skipped = 0;
  for await (const { path, type } of filesystem.walk(folder)) {
    signal.throwIfAborted();
    if (type !== 'file' || !path.endsWith(suffix)) continue;
    try {
      // A peek, not a read: counting a file does not mark it as read.
      files.push({ file: path, ...count(decoder.decode(await filesystem.read(path, { peek: true }))) });
    } catch {
      // Not text, or too large: reported in the result.
      skipped += 1;
    }
  }
  const sum = (key: keyof Counts): number => files.reduce((total, counts) => total + counts[key], 0);
  const longest = files.toSorted((left, right) => right.words - left.words).slice(0, maxFiles);
  return {
    files_counted: files.length,
    files_skipped: skipped,
    words: sum('words'),
    lines: sum('lines'),
    characters: sum('characters'),
    longest_files: longest,
  };
}

/** Words are runs of letters, digits and joining characters; characters are graphemes. */
function count(text: string): Counts {
  const lines = text === '' ? 0 : text.split(/\r\n|\r|\n/).length - (/[\r\n]$/.test(text) ? 1 : 0);
  const words = text.match(/[\p{L}\p{N}\p{M}]+(?:['’_-][\p{L}\p{N}\p{M}]+)*/gu)?.length ?? 0;
  let characters = 0;
  for (const _ of new Intl.Segmenter().segment(text)) characters += 1;
  return { words, lines, characters };
}
