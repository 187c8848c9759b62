import { spawn } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The tools folder of the examples, relative to the checkout. */
export const pluginsFolder: string = relative(process.cwd(), join(root, 'examples/plugins')) || '.';

const passedOn: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];

/** Runs the command-line program with this process's terminal; returns its exit code. */
export function holdfast(words: readonly string[]): Promise<number> {
  const program = join(root, 'apps/cli/src/main.ts');
  const child = spawn(process.execPath, ['--conditions=holdfast-source', program, ...words], { stdio: 'inherit' });
  // The terminal also sends Ctrl-C to the run; these signals reach only this process, so it stops the run cleanly.
  const passOn = (signal: NodeJS.Signals): boolean => child.kill(signal);
  for (const signal of passedOn) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      for (const signal of passedOn) process.off(signal, passOn);
      resolve(code ?? 1);
    });
  });
}
