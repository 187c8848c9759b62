import type { Host } from './host.ts';
import { toJsonText } from './json.ts';

/** Prints lines for people. */
export function printLines({ stdout }: Pick<Host, 'stdout'>, lines: readonly string[]): void {
  stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Prints a value for programs. */
export function printJson({ stdout }: Pick<Host, 'stdout'>, value: unknown): void {
  stdout.write(`${toJsonText(value, 2)}\n`);
}
