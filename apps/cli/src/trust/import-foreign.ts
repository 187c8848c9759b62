import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '@holdfast/core';
import { createColors } from '../terminal/colors.ts';
import { formatFailure } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

/** What came of some work, and the code that it made this process load. */
export interface ForeignImports<Answer> {
  readonly answer: Answer;
  /**
   * Absolute paths of modules that were loaded for the first time; of those of packages the `node_modules` that they are in. What a run
   * could write there, the next one would run.
   */
  readonly imported: readonly string[];
}

const ended = new HoldfastError(
  'plugin.process.exited',
  'The configuration, or a plugin or pack that it names, ended this process; nothing was run.',
);

/**
 * Does some work that imports the code of others, and finds out what that is. What it prints goes to stderr, because stdout may be for a
 * program; when it ends the process, the program fails.
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
