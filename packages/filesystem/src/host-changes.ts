import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Change, PreparedChange } from './backend.ts';
import { cleanupFailed, hasChanged, undoFailed } from './file-errors.ts';
import { systemCode, toFileError } from './host-errors.ts';
import { type HostFolder, type HostOperations, openFolder } from './host-folder.ts';
import { type HostPaths, statIfPresent } from './host-paths.ts';
import { nameOf, parentOf } from './paths.ts';

/** What a change needs to know of its backend. */
export interface HostAccess {
  readonly operations: HostOperations;
  readonly paths: HostPaths;
  /** A name for a temporary file that no tool can reach. */
  temporaryName(): string;
}

/** Does what can fail of one change beforehand: content goes into a temporary file beside the target. */
export async function prepareHostChange(access: HostAccess, change: Change): Promise<PreparedChange> {
  try {
    const steps = await prepareSteps(access, change);
    const guarded = (run: () => Promise<void>) => async () => {
      try {
        await run();
      } catch (error) {
        throw toFileError(error, change.key, 'write');
      }
    };
    return { apply: guarded(steps.apply), undo: guarded(steps.undo), close: guarded(steps.close) };
  } catch (error) {
    throw toFileError(error, change.key, 'write');
  }
}

interface Steps {
  apply(): Promise<void>;
  undo(): Promise<void>;
  close(): Promise<void>;
}

function prepareSteps(access: HostAccess, change: Change): Promise<Steps> {
  switch (change.type) {
    case 'write':
      return prepareWrite(access, change.key, change.bytes);
    case 'make-directory':
      return prepareMakeDirectory(access, change.key);
    case 'remove-file':
      return prepareRemoveFile(access, change.key, change.shelter);
    case 'remove-directory':
      return prepareRemoveDirectory(access, change.key);
    default:
      return change satisfies never;
  }
}

async function prepareWrite(access: HostAccess, key: string, bytes: Uint8Array): Promise<Steps> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  const found = await statIfPresent(operations, target);
  const existing = found?.isFile() === true ? found : undefined;
  // Replacing a file needs no permission to write it; a file that its owner made read-only stays as it is all the same.
  if (existing !== undefined) await operations.access(target, constants.W_OK);
  const temporary = await writeTemporary(access, key, bytes, existing);
  // Forgotten before it is put back: if that fails, `close` must not remove it.
  let kept: string | undefined;
  let written = false;
  let opened: HostFolder | undefined;
  return {
    async apply() {
      const folder = await openTargetFolder();
      const path = `${folder.path}/${nameOf(target)}`;
      const backup = `${folder.path}/${access.temporaryName()}`;
      checkUnchanged(key, existing, await statIfPresent(operations, path));
      const moved = existing !== undefined && (await keepOriginal(operations, path, backup)) === 'moved';
      if (existing !== undefined) kept = backup;
      try {
        await operations.rename(`${temporary.folder.path}/${temporary.name}`, path);
      } catch (error) {
        if (moved) {
          kept = undefined;
          await operations.rename(backup, path).catch((failure: unknown) => {
            throw undoFailed([error, failure]);
          });
        }
        throw error;
      }
      written = true;
    },
    async undo() {
      const original = kept;
      kept = undefined;
      const path = `${(await openTargetFolder()).path}/${nameOf(target)}`;
      await (original === undefined ? operations.unlink(path) : operations.rename(original, path));
    },
    async close() {
      try {
        if (!written) await operations.unlink(`${temporary.folder.path}/${temporary.name}`);
        if (kept !== undefined) await operations.unlink(kept);
      } finally {
        await temporary.folder.close();
        await opened?.close();
      }
    },
  };

  async function openTargetFolder(): Promise<HostFolder> {
    const parent = await access.paths.toHost(parentOf(key) ?? '');
    if (parent === temporary.parent) {
      await temporary.folder.check();
      return temporary.folder;
    }
    opened ??= await openFolder(operations, parent, key);
    await opened.check();
    return opened;
  }
}

/** Between `prepare` and here, the call's record was written: time in which somebody else may have written the file. */
function checkUnchanged(key: string, before: Stats | undefined, now: Stats | undefined): void {
  const unchanged = before?.ino === now?.ino && before?.size === now?.size && before?.mtimeMs === now?.mtimeMs;
  if (!unchanged) throw hasChanged(key);
}

/** Keeps the file under a second name, so that an undo brings back the very same file, times and all. */
async function keepOriginal(operations: HostOperations, path: string, backup: string): Promise<'linked' | 'moved'> {
  try {
    await operations.link(path, backup);
    return 'linked';
  } catch {
    // Not every file system has hard links. Moving needs none; the file is then absent for a moment.
    await operations.rename(path, backup);
    return 'moved';
  }
}

interface Temporary {
  readonly folder: HostFolder;
  /** The host path of `folder`. */
  readonly parent: string;
  readonly name: string;
}

async function writeTemporary(
  access: HostAccess,
  key: string,
  bytes: Uint8Array,
  existing: Stats | undefined,
): Promise<Temporary> {
  const { operations } = access;
  const parent = await deepestFolder(access, key);
  const folder = await openFolder(operations, parent, key);
  const name = access.temporaryName();
  const path = `${folder.path}/${name}`;
  const mode = existing && existing.mode & 0o7777;
  try {
    // `wx` never follows a link and never takes over a file.
    const handle = await operations.open(path, 'wx', mode ?? 0o666);
    try {
      try {
        await handle.writeFile(bytes);
        if (existing !== undefined) await keepOwner(handle, existing);
        // After the owner: a change of owner takes some bits away.
        if (mode !== undefined) await handle.chmod(mode);
      } finally {
        await handle.close();
      }
    } catch (error) {
      await operations.unlink(path).catch((failure: unknown) => {
        throw cleanupFailed([error, failure]);
      });
      throw error;
    }
  } catch (error) {
    await folder.close();
    throw error;
  }
  return { folder, parent, name };
}

/** A program that runs for another user than the file's, such as the superuser, must not take the file away from them. */
async function keepOwner(handle: FileHandle, { uid, gid }: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid === uid && own.gid === gid) return;
  try {
    await handle.chown(uid, gid);
  } catch (error) {
    // Only the superuser may give files away. Anybody else who may write the file could have replaced it just so.
    if (systemCode(error) !== 'EPERM') throw error;
  }
}

async function prepareRemoveFile(access: HostAccess, key: string, shelter: string): Promise<Steps> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  const existing = await operations.lstat(target);
  await operations.access(target, constants.W_OK);
  // The file's own folder may be removed next, so what is kept for an undo does not lie in it.
  const folder = await openFolder(operations, await access.paths.toHost(shelter), key);
  const backup = `${folder.path}/${access.temporaryName()}`;
  let kept = false;
  return {
    async apply() {
      await inParent(access, key, target, async (path) => {
        checkUnchanged(key, existing, await statIfPresent(operations, path));
        await operations.rename(path, backup);
      });
      kept = true;
    },
    async undo() {
      kept = false;
      await inParent(access, key, target, (path) => operations.rename(backup, path));
    },
    async close() {
      try {
        if (kept) await operations.unlink(backup);
      } finally {
        await folder.close();
      }
    },
  };
}

async function prepareRemoveDirectory(access: HostAccess, key: string): Promise<Steps> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  const { mode } = await operations.lstat(target);
  return {
    apply: () => inParent(access, key, target, (path) => operations.rmdir(path)),
    undo: () =>
      inParent(access, key, target, async (path) => {
        await operations.mkdir(path);
        await operations.chmod(path, mode & 0o7777);
      }),
    close: async () => undefined,
  };
}

async function prepareMakeDirectory(access: HostAccess, key: string): Promise<Steps> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  let made = false;
  return {
    apply: () =>
      inParent(access, key, target, async (path) => {
        try {
          await operations.mkdir(path);
          made = true;
        } catch (error) {
          // Somebody else made it meanwhile: it is theirs, and stays whatever becomes of the commit.
          const theirs = systemCode(error) === 'EEXIST' && (await operations.lstat(path)).isDirectory();
          if (!theirs) throw error;
        }
      }),
    async undo() {
      if (made) await inParent(access, key, target, (path) => operations.rmdir(path));
    },
    close: async () => undefined,
  };
}

/** Runs with the path of `target` through the open folder that holds it. */
async function inParent(
  access: HostAccess,
  key: string,
  target: string,
  run: (path: string) => Promise<void>,
): Promise<void> {
  // Opened at the last moment: an earlier step of the same commit may have made the folder.
  const folder = await openFolder(access.operations, await access.paths.toHost(parentOf(key) ?? ''), key);
  try {
    await run(`${folder.path}/${nameOf(target)}`);
  } finally {
    await folder.close();
  }
}

/** The folder nearest to `key` that exists now; the ones between are made by the commit. */
async function deepestFolder({ operations, paths }: HostAccess, key: string): Promise<string> {
  let folder = parentOf(key) ?? '';
  for (;;) {
    const path = await paths.toHost(folder);
    const above = parentOf(folder);
    if (above === undefined || (await statIfPresent(operations, path))?.isDirectory() === true) return path;
    folder = above;
  }
}
