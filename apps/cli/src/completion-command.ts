import type { Command } from 'commander';
import { describeProgram, shellWords } from './command-tree.ts';
import { toBashScript } from './completion-bash.ts';
import { toFishScript } from './completion-fish.ts';
import { toZshScript } from './completion-zsh.ts';
import { type ExitCode, usageError } from './failure.ts';
import type { Host } from './host.ts';

const scripts = new Map([
  ['bash', toBashScript],
  ['zsh', toZshScript],
  ['fish', toFishScript],
]);

/** Prints a script with which `shell` completes the commands of `program`. @throws HoldfastError `usage.shell_unknown`. */
export function printCompletion(shell: string, program: Command, { stdout }: Pick<Host, 'stdout'>): ExitCode {
  const toScript = scripts.get(shell);
  if (toScript === undefined) {
    throw usageError(
      'usage.shell_unknown',
      `There is no completion for \`${shell}\`: use one of ${shellWords.join(', ')}.`,
    );
  }
  stdout.write(toScript(describeProgram(program)));
  return 0;
}
