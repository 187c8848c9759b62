import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { describeThrown } from '@holdfast/core/internal';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { readText } from '../terminal/request.ts';
import { hasCode } from '../terminal/system.ts';

/**
 * Reads a plan from a file, or from standard input with `-`: UTF-8, at most 16 MiB, enough for ten thousand nodes with a kilobyte of
 * inputs each.
 *
 * @throws HoldfastError `usage.invalid` (`plan_unreadable`).
 */
export async function readPlanText(
  file: string,
  { stdin, stderr, directory }: Pick<Host, 'stdin' | 'stderr' | 'directory'>,
): Promise<string> {
  const isTyped = file === '-' && stdin.isTTY === true;
  if (isTyped) stderr.write('Type or paste the plan, then press Ctrl-D on an empty line.\n');
  const what = file === '-' ? 'The plan on standard input' : `The plan \`${file}\``;
  const refuse = (problem: string): Error => usageError('plan_unreadable', `${what} ${problem}.`);
  const read = await readText(file === '-' ? stdin : createReadStream(resolve(directory, file))).catch((thrown) => {
    throw refuse(describeProblem(thrown));
  });
  if ('text' in read) return read.text;
  throw refuse(read.problem === 'not-text' ? 'is not UTF-8 text' : 'is larger than 16 MiB');
}

function describeProblem(thrown: unknown): string {
  if (hasCode(thrown, 'ENOENT')) return 'does not exist: give a JSON file with a plan, or - for standard input';
  if (hasCode(thrown, 'EISDIR')) return 'is a folder: give a file';
  return `cannot be read: ${describeThrown(thrown)}`;
}
