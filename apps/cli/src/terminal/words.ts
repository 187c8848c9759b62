import { relative, resolve } from 'node:path';
import type { Host } from './host.ts';
import { toPrintable } from './text.ts';

export interface TypedCommand {
  /** The command and its arguments, which may come from a model: each is quoted as one word. */
  readonly words: readonly [command: string, ...parameters: readonly string[]];
  readonly options?: readonly string[];
  readonly workspace: string;
}

/** A command of this program as typed in the current folder. */
export function toCommand(
  { words: [name, ...parameters], options = [], workspace }: TypedCommand,
  { command, directory }: Pick<Host, 'command' | 'directory'>,
): string {
  const place = relative(directory, workspace);
  const at = place === '' ? [] : ['--workspace', quoteWord(place.startsWith('-') ? resolve(workspace) : place)];
  const typed = parameters.map(quoteWord);
  // After `--`, a word that begins with `-` is not an option.
  return parameters.some((word) => word.startsWith('-'))
    ? [command, name, ...options, ...at, '--', ...typed].join(' ')
    : [command, name, ...typed, ...options, ...at].join(' ');
}

/** Quotes a word for a shell. Control characters are escaped; the program also finds ids in this form. */
export function quoteWord(word: string): string {
  const printable = toPrintable(word);
  return /^[\w./:@%+-][\w./:@%+~=-]*$/.test(printable) ? printable : `'${printable.replaceAll("'", `'\\''`)}'`;
}
