import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { describeThrown, HoldfastError } from '@holdfast/core';

/**
 * Keeps others from what the file `path` stands for until the answer is called: calls in this process, and other processes of this
 * machine. The system itself takes the lock from a process that has ended, so none is ever left. It is the lock of an empty SQLite
 * database, the only one that Node has.
 *
 * @throws HoldfastError `modules.busy`, `modules.unwritable`.
 */
export async function takeLock(path: string, { waitMs }: { readonly waitMs: number }): Promise<() => void> {
  // Only here: some versions of Node warn when it is loaded.
  const { DatabaseSync } = await import('node:sqlite');
  await makeFile(path);
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
      return () => database.close();
    } catch (cause) {
      database.close();
      if (!isLocked(cause)) throw unwritable(`the lock \`${path}\` cannot be taken: ${describeThrown(cause)}`, cause);
    }
    if (performance.now() >= untilMs) {
      throw new HoldfastError(
        'modules.busy',
        `Somebody else has been saving modules for ${waitMs} ms; nothing was saved, try again later.`,
        {
          data: { lock: path },
        },
      );
    }
    // Not in step with others that wait.
    await wait(1 + Math.random() * 10);
  }
}

export function unwritable(why: string, cause?: unknown): HoldfastError {
  return new HoldfastError('modules.unwritable', `Modules cannot be saved: ${why}.`, { cause });
}

/** SQLite would make a file behind a link. */
async function makeFile(path: string): Promise<void> {
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  await using _handle = await open(path, flags, 0o666);
  if (!(await lstat(path)).isFile()) throw unwritable(`\`${path}\` is no regular file`);
}

/** SQLITE_BUSY, of https://www.sqlite.org/rescode.html. */
function isLocked(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === 5;
}
