import { findVariableProblem } from '@holdfast/core';
import { InvalidArgumentError } from 'commander';

export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

export function collectNames(
  value: string,
  earlier: readonly (readonly string[])[] = [],
): readonly (readonly string[])[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.length < 2 || names.includes('')) {
    throw new InvalidArgumentError('It must be two or more names of tools with commas between them.');
  }
  return [...earlier, names];
}

/** Names of environment variables; never values, which every user of the machine could read in the list of processes. */
export function collectVariables(name: string, earlier: readonly string[] = []): readonly string[] {
  if (name.includes('='))
    throw new InvalidArgumentError('It takes a name without a value: set the variable, and give its name.');
  const problem = findVariableProblem(name);
  if (problem !== undefined) throw new InvalidArgumentError(problem.message);
  return [...earlier, name];
}

/** What `--env` does, wherever it stands. */
export const environmentText = 'give this environment variable to the tool files that declare it; may be repeated';

/** What `--subfolders` does, wherever it stands. */
export const subfoldersText = 'read the folders in the folder of tool files, too';

export function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return count;
}

export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && Number.isFinite(seconds)))
    throw new InvalidArgumentError('It must be a number of seconds above 0.');
  return seconds;
}

export function readSeq(text: string): number {
  const seq = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(seq) || seq < 0)
    throw new InvalidArgumentError('It must be the number of a record, from 0 on.');
  return seq;
}
