import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What came of some work, and the code that it made this process load. */
export interface RecordedImports<Answer> {
  readonly answer: Answer;
  /**
   * Absolute paths of modules that were loaded for the first time; of those of packages the `node_modules` that they are in. What a run
   * could write there, the next one would run.
   */
  readonly imported: readonly string[];
}

/** Does some work, and finds out what it imports. */
export async function recordImports<Answer>(work: () => Promise<Answer>): Promise<RecordedImports<Answer>> {
  const paths = new Set<string>();
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) paths.add(toProtected(fileURLToPath(url)));
      return next(url, context);
    },
  });
  try {
    return { answer: await work(), imported: [...paths] };
  } finally {
    hooks.deregister();
  }
}

function toProtected(path: string): string {
  const folder = `${sep}node_modules${sep}`;
  const at = path.indexOf(folder);
  return at === -1 ? path : path.slice(0, at + folder.length - 1);
}
