import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '@holdfast/core';
import { createColors } from '../terminal/colors.ts';
import { formatFailure } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

/** The result of some work and the code that it loaded. */
export interface ForeignImports<Answer> {
  readonly answer: Answer;
  /**
   * Absolute paths of modules that were loaded for the first time; for packages, their `node_modules`. A run must not write there,
   * because the next one would execute it.
   */
  readonly imported: readonly string[];
}

const ended = new HoldfastError(
  'plugin.failed',
  'The configuration, or one of its plugins or packs, ended this process. Nothing has run.',
  { data: { reason: 'exited' } },
);

/**
 * Runs work that imports foreign code, and records the modules. Redirects its output to stderr, because stdout may be for a program; if
 * the work ends the process, the program fails.
 */
export async function importForeign<Answer>(
  { stdout, stderr, guardExit }: Pick<Host, 'stdout' | 'stderr' | 'guardExit'>,
  work: () => Promise<Answer>,
): Promise<ForeignImports<Answer>> {
  const paths = new Set<string>();
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) paths.add(toProtected(fileURLToPath(url)));
      return next(url, context);
    },
  });
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr);
  const letExit = guardExit(formatFailure(ended, { colors: createColors(false), debug: false }));
  try {
    return { answer: await work(), imported: [...paths] };
  } finally {
    letExit();
    stdout.write = write;
    hooks.deregister();
  }
}

function toProtected(path: string): string {
  const folder = `${sep}node_modules${sep}`;
  const at = path.indexOf(folder);
  return at === -1 ? path : path.slice(0, at + folder.length - 1);
}
