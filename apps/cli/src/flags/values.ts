import { findVariableProblem } from '@holdfast/core/internal';
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
    throw new InvalidArgumentError('Expected two or more tool names, separated by commas.');
  }
  return [...earlier, names];
}

/** Collects names of environment variables; values would be visible to other users in the process list. */
export function collectVariables(name: string, earlier: readonly string[] = []): readonly string[] {
  if (name.includes('='))
    throw new InvalidArgumentError('Expected a name without a value: set the variable and pass its name.');
  const problem = findVariableProblem(name);
  if (problem !== undefined) throw new InvalidArgumentError(problem.message);
  return [...earlier, name];
}

export const environmentText = 'pass this environment variable to the tool files that declare it; repeatable';

export const subfoldersText = 'include subfolders of the tools folder';

export function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('Expected a positive integer.');
  return count;
}

export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && Number.isFinite(seconds)))
    throw new InvalidArgumentError('Expected a positive number of seconds.');
  return seconds;
}

export function readSeq(text: string): number {
  const seq = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(seq) || seq < 0)
    throw new InvalidArgumentError('Expected a record number, 0 or greater.');
  return seq;
}

export function readPort(text: string): number {
  const port = Number(text);
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port number, 0 to 65535.');
}
