import { randomUUID } from 'node:crypto';
import { lstat, readdir, realpath, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** How long a copy is kept that no lock names any more: another process may still run tools from it. 30 days. */
export const keepCopiesMs: number = 30 * 24 * 60 * 60 * 1000;

const toolsFolder = (root: string): string => join(root, '.holdfast', 'tools');

/** Says that a copy has been used: it is kept for a time from now on, whatever becomes of the lock. */
export async function noteCopyUse(root: string, digest: string): Promise<void> {
  const now = new Date();
  // Where nothing can be written, nothing is removed either.
  await utimes(join(toolsFolder(root), digest), now, now).catch(() => undefined);
}

/**
 * Removes the copies that `named` does not have and that nobody has made or used since `beforeMs`, and what processes have left that
 * ended while they wrote one. It only saves room: what cannot be removed stays.
 */
export async function removeOldCopies(
  root: string,
  { named, beforeMs }: { readonly named: ReadonlySet<string>; readonly beforeMs: number },
): Promise<void> {
  const folder = toolsFolder(root);
  try {
    // Where a link leads, somebody else may have their files.
    if ((await realpath(folder)) !== folder) return;
    for (const name of await readdir(folder)) {
      if (named.has(name) || !/^(?:[\da-f]{64}|\.(?:new|old)-.+)$/.test(name)) continue;
      const state = await lstat(join(folder, name));
      if (state.isDirectory() && state.mtimeMs < beforeMs) await removeCopy(folder, name);
    }
  } catch {
    // There is none, or somebody else is at it.
  }
}

async function removeCopy(folder: string, name: string): Promise<void> {
  const aside = join(folder, `.old-${process.pid}-${randomUUID()}`);
  // At once, so that nobody finds half of it.
  await rename(join(folder, name), aside);
  await rm(aside, { recursive: true, force: true });
}
