import { type BigIntStats, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { nameOf, parentOf } from '../paths/paths.ts';
import type { Change } from '../staging/backend.ts';
import { cleanupFailed } from '../staging/errors.ts';
import type { HostAccess, HostChange } from './changes.ts';
import { systemCode } from './errors.ts';
import { type HostFolder, type HostOperations, openFolder } from './folder.ts';
import type { Stamp, TemporaryNames } from './journal.ts';
import { statIfPresent } from './paths.ts';
import { checkUnchanged, toStamp, toState } from './state.ts';

/** Writes the new content to a temporary file next to the target, or in the nearest existing folder. */
export async function planWrite(
  access: HostAccess,
  { key, bytes, version, before }: Extract<Change, { type: 'write' }>,
  names: TemporaryNames,
): Promise<HostChange> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  const found = await statIfPresent(operations, target);
  const existing = found?.isFile() === true ? found : undefined;
  // Replacing a file needs no write permission on it, but a read-only file must stay unchanged.
  if (existing !== undefined) await operations.access(target, constants.W_OK);
  const state = toState(key, existing, before);
  const folderKey = await deepestFolder(access, key);
  const parent = await access.paths.toHost(folderKey);
  let folder: HostFolder | undefined;
  let next: string | undefined;
  let applied = false;
  let former: { readonly path: string; readonly by: 'link' | 'rename' } | undefined;
  let opened: HostFolder | undefined;

  async function openTargetFolder(): Promise<HostFolder> {
    const targetParent = await access.paths.toHost(parentOf(key) ?? '');
    if (folder !== undefined && targetParent === parent) {
      await folder.check();
      return folder;
    }
    opened ??= await openFolder(operations, targetParent, key);
    await opened.check();
    return opened;
  }

  return {
    recorded: {
      type: 'write',
      key,
      name: basename(target),
      folder: folderKey,
      before: state,
      after: { version, size: bytes.length },
    },
    async prepare() {
      folder = await openFolder(operations, parent, key);
      const path = `${folder.path}/${names.next}`;
      const stamp = await writeTemporary(operations, path, { bytes, existing });
      next = path;
      return stamp;
    },
    async apply() {
      if (next === undefined) throw new TypeError('A change must be prepared before it is applied.');
      const { path: place } = await openTargetFolder();
      const path = `${place}/${nameOf(target)}`;
      checkUnchanged(key, existing, await statIfPresent(operations, path));
      if (existing !== undefined) {
        const backup = `${place}/${names.former}`;
        former = { path: backup, by: await keep(operations, path, backup) };
      }
      await operations.rename(next, path);
      applied = true;
    },
    async undo() {
      // A link is only a second name.
      if (!applied && former?.by !== 'rename') return;
      const path = `${(await openTargetFolder()).path}/${nameOf(target)}`;
      if (applied && next !== undefined) {
        if (former === undefined) await operations.rename(path, next);
        else await keep(operations, path, next);
      }
      if (former !== undefined) {
        await operations.rename(former.path, path);
        former = undefined;
      }
      applied = false;
    },
    leaves: () => former !== undefined || (next !== undefined && !applied),
    async clean() {
      if (next !== undefined && !applied) await operations.unlink(next);
      next = undefined;
      if (former !== undefined) await operations.unlink(former.path);
      former = undefined;
    },
    async close() {
      await folder?.close();
      await opened?.close();
    },
  };
}

/** Keeps a file under a second name, so that an undo restores the same file, including its times. */
async function keep(operations: HostOperations, path: string, second: string): Promise<'link' | 'rename'> {
  try {
    await operations.link(path, second);
    return 'link';
  } catch (error) {
    // Moving would replace a file that already has the name.
    if (systemCode(error) === 'EEXIST') throw error;
    // Not every file system has hard links. Moving works without; the file is then absent for a moment.
    await operations.rename(path, second);
    return 'rename';
  }
}

async function writeTemporary(
  operations: HostOperations,
  path: string,
  { bytes, existing }: { readonly bytes: Uint8Array; readonly existing: BigIntStats | undefined },
): Promise<Stamp> {
  const mode = existing && Number(existing.mode & 0o7777n);
  // `wx` never follows a link or reuses a file.
  const handle = await operations.open(path, 'wx', mode ?? 0o666);
  try {
    let own: BigIntStats;
    try {
      await handle.writeFile(bytes);
      own = await handle.stat({ bigint: true });
      if (existing !== undefined) await keepOwner(handle, { own, existing });
      // After the owner, because changing the owner clears some bits.
      if (mode !== undefined) await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    return toStamp(own);
  } catch (error) {
    await operations.unlink(path).catch((failure: unknown) => {
      throw cleanupFailed([error, failure]);
    });
    throw error;
  }
}

/** Keeps the owner of the file if the program runs as another user, such as root. */
async function keepOwner(
  handle: FileHandle,
  { own, existing }: { readonly own: BigIntStats; readonly existing: BigIntStats },
): Promise<void> {
  const { uid, gid } = existing;
  if (own.uid === uid && own.gid === gid) return;
  try {
    await handle.chown(Number(uid), Number(gid));
  } catch (error) {
    // Only root may change owners. Other users with write access could have replaced the file in the same way.
    if (systemCode(error) !== 'EPERM') throw error;
  }
}

/** The nearest existing folder of `key`; the commit creates the ones in between. */
async function deepestFolder({ operations, paths }: HostAccess, key: string): Promise<string> {
  let folder = parentOf(key) ?? '';
  for (;;) {
    const above = parentOf(folder);
    if (above === undefined) return folder;
    if ((await statIfPresent(operations, await paths.toHost(folder)))?.isDirectory() === true) return folder;
    folder = above;
  }
}
