import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { describeThrown } from '@holdfast/core';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { readText } from '../terminal/request.ts';
import { hasCode } from '../terminal/system.ts';

/**
 * The text of the plan in a file, or with `-` on standard input: UTF-8 of at most 16 MiB, which is room for ten thousand nodes with a
 * kilobyte of inputs each.
 *
 * @throws HoldfastError `usage.plan_unreadable`.
 */
export async function readPlanText(
  file: string,
  { stdin, stderr, directory }: Pick<Host, 'stdin' | 'stderr' | 'directory'>,
): Promise<string> {
  const isTyped = file === '-' && stdin.isTTY === true;
  if (isTyped) stderr.write('Type or paste the plan, and end it with Ctrl-D on a line of its own.\n');
  const what = file === '-' ? 'The plan on standard input' : `The plan \`${file}\``;
  const refuse = (problem: string): Error => usageError('usage.plan_unreadable', `${what} ${problem}.`);
  const read = await readText(file === '-' ? stdin : createReadStream(resolve(directory, file))).catch((thrown) => {
    throw refuse(describeProblem(thrown));
  });
  if ('text' in read) return read.text;
  throw refuse(read.problem === 'not-text' ? 'is not UTF-8 text' : 'has more than 16 MiB, and no plan is that large');
}

function describeProblem(thrown: unknown): string {
  if (hasCode(thrown, 'ENOENT')) return 'is not there: name a file with a plan as JSON, or - for standard input';
  if (hasCode(thrown, 'EISDIR')) return 'is a folder: name the file in it';
  return `cannot be read: ${describeThrown(thrown)}`;
}
