import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { McpServerPin, McpStart } from '@holdfast/mcp';
import type { Host } from '../terminal/host.ts';
import { findPackage } from './packages.ts';

export type PinnedFile = NonNullable<McpServerPin['file']>;

const interpreters = /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|ruby|perl|php|lua|(?:ba|da|z)?sh|pwsh)(?:\.exe)?$/;
/** Reading a larger one would delay each start. */
const maxBytes = 67_108_864;

/**
 * The file that a start runs, with its digest: the first file among the words of an interpreter, else the program, if a path names it.
 * `undefined`: none on this disk, or one too large to read at each start. `shown`: the start as the pin has it.
 */
export function findStartedFile(
  start: McpStart,
  shown: McpStart,
  host: Pick<Host, 'directory'>,
): PinnedFile | undefined {
  if ('url' in start || 'url' in shown || findPackage(start) !== undefined) return undefined;
  const words = [start.command, ...start.args];
  const isInterpreter = interpreters.test(basename(start.command));
  const at = isInterpreter
    ? words.findIndex((word, index) => index > 0 && isFile(word, host))
    : words.findIndex((word, index) => index === 0 && /[/\\]/.test(word) && isFile(word, host));
  const [word, path] = [words[at], [shown.command, ...shown.args][at]];
  if (word === undefined || path === undefined) return undefined;
  return {
    path,
    sha256: createHash('sha256')
      .update(readFileSync(resolve(host.directory, word)))
      .digest('hex'),
  };
}

function isFile(word: string, { directory }: Pick<Host, 'directory'>): boolean {
  if (word.startsWith('-')) return false;
  const found = statSync(resolve(directory, word), { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= maxBytes;
}
