import { relative, resolve } from 'node:path';
import type { Host } from './host.ts';
import { toPrintable } from './text.ts';

export interface TypedCommand {
  /** The command and its arguments, which may come from a model: each is one word for the shell, whatever it holds. */
  readonly words: readonly [command: string, ...parameters: readonly string[]];
  readonly options?: readonly string[];
  readonly workspace: string;
}

/** A command of this program as it can be typed in the folder where the program was called. */
export function toCommand(
  { words: [name, ...parameters], options = [], workspace }: TypedCommand,
  { command, directory }: Pick<Host, 'command' | 'directory'>,
): string {
  const place = relative(directory, workspace);
  const at = place === '' ? [] : ['--workspace', quoteWord(place.startsWith('-') ? resolve(workspace) : place)];
  const typed = parameters.map(quoteWord);
  // What begins like an option is none.
  return parameters.some((word) => word.startsWith('-'))
    ? [command, name, ...options, ...at, '--', ...typed].join(' ')
    : [command, name, ...typed, ...options, ...at].join(' ');
}

/** One word for a shell. What a terminal would obey stands as an escape, by which the program finds it, too. */
export function quoteWord(word: string): string {
  const printable = toPrintable(word);
  return /^[\w./:@%+-][\w./:@%+~=-]*$/.test(printable) ? printable : `'${printable.replaceAll("'", `'\\''`)}'`;
}
