import { constants } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nameOf, parentOf } from '../paths/paths.ts';
import type { Change } from '../staging/backend.ts';
import { hasChanged } from '../staging/errors.ts';
import { systemCode, toFileError } from './errors.ts';
import { type HostFolder, type HostOperations, openFolder } from './folder.ts';
import { type RecordedChange, type Stamp, type TemporaryNames, temporaryNames } from './journal.ts';
import { type HostPaths, statIfPresent } from './paths.ts';
import { checkUnchanged, toState } from './state.ts';
import { planWrite } from './write.ts';

/** The backend, as a change accesses it. */
export interface HostAccess {
  readonly operations: HostOperations;
  readonly paths: HostPaths;
}

/** One change of a commit: `prepare`, then `apply`, and always `close` at the end. */
export interface HostChange {
  readonly recorded: RecordedChange;
  /** Does everything that can fail early without visible effects: writes content to a temporary file. Returns its stamp. */
  prepare(): Promise<Stamp | null>;
  apply(): Promise<void>;
  /**
   * Restores the previous state, even if `apply` failed midway. Keeps the prepared files: if the process ends during the undo, the log may
   * say that the call took place.
   */
  undo(): Promise<void>;
  /** True if there is anything to clean. */
  leaves(): boolean;
  /** Removes the files kept for `apply` and `undo`. */
  clean(): Promise<void>;
  close(): Promise<void>;
}

/** Inspects the current state; `place` gives the names of temporary files, which no tool can reach. */
export async function planHostChange(
  access: HostAccess,
  change: Change,
  place: { readonly token: string; readonly index: number },
): Promise<HostChange> {
  const names = temporaryNames(place.token, place.index);
  const guarded = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await run();
    } catch (error) {
      throw toFileError(error, change.key, 'write');
    }
  };
  const planned = await guarded(() => plan(access, change, names));
  return {
    ...planned,
    prepare: () => guarded(planned.prepare),
    apply: () => guarded(planned.apply),
    undo: () => guarded(planned.undo),
  };
}

function plan(access: HostAccess, change: Change, names: TemporaryNames): Promise<HostChange> {
  switch (change.type) {
    case 'write':
      return planWrite(access, change, names);
    case 'make-directory':
      return planMakeDirectory(access, change.key);
    case 'remove-file':
      return planRemoveFile(access, change, names);
    case 'remove-directory':
      return planRemoveDirectory(access, change.key, names);
    default:
      return change satisfies never;
  }
}

async function planRemoveFile(
  access: HostAccess,
  { key, shelter, before }: Extract<Change, { type: 'remove-file' }>,
  names: TemporaryNames,
): Promise<HostChange> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  const existing = await operations.lstat(target, { bigint: true });
  await operations.access(target, constants.W_OK);
  const recorded = toState(key, existing, before);
  if (recorded === null) throw hasChanged(key);
  let folder: HostFolder | undefined;
  let kept: string | undefined;
  return {
    recorded: { type: 'remove-file', key, name: basename(target), folder: shelter, before: recorded },
    async prepare() {
      // The file's own folder may be removed next, so the backup for an undo is elsewhere.
      folder = await openFolder(operations, await access.paths.toHost(shelter), key);
      return null;
    },
    async apply() {
      if (folder === undefined) throw new TypeError('A change must be prepared before it is applied.');
      const backup = `${folder.path}/${names.former}`;
      await inParent(access, key, target, async (path) => {
        checkUnchanged(key, existing, await statIfPresent(operations, path));
        await operations.rename(path, backup);
      });
      kept = backup;
    },
    async undo() {
      const backup = kept;
      if (backup === undefined) return;
      await inParent(access, key, target, (path) => operations.rename(backup, path));
      kept = undefined;
    },
    leaves: () => kept !== undefined,
    async clean() {
      if (kept !== undefined) await operations.unlink(kept);
      kept = undefined;
    },
    close: async () => folder?.close(),
  };
}

async function planRemoveDirectory(access: HostAccess, key: string, names: TemporaryNames): Promise<HostChange> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  const { ino, mode: fullMode } = await operations.lstat(target, { bigint: true });
  const mode = Number(fullMode & 0o7777n);
  let removed = false;
  return {
    recorded: { type: 'remove-directory', key, name: basename(target), ino: String(ino), mode },
    async apply() {
      await inParent(access, key, target, (path) => operations.rmdir(path));
      removed = true;
    },
    async undo() {
      if (!removed) return;
      await inParent(access, key, target, async (path) => {
        // Created elsewhere, so that it never appears without its mode.
        const made = join(dirname(path), names.former);
        await operations.mkdir(made);
        await operations.chmod(made, mode);
        await operations.rename(made, path);
      });
    },
    ...nothingKept,
  };
}

async function planMakeDirectory(access: HostAccess, key: string): Promise<HostChange> {
  const { operations } = access;
  const target = await access.paths.toHost(key);
  let made = false;
  return {
    recorded: { type: 'make-directory', key },
    apply: () =>
      inParent(access, key, target, async (path) => {
        try {
          await operations.mkdir(path);
          made = true;
        } catch (error) {
          // Created by another program in the meantime: it stays, whatever happens to the commit.
          const theirs = systemCode(error) === 'EEXIST' && (await operations.lstat(path)).isDirectory();
          if (!theirs) throw error;
        }
      }),
    async undo() {
      if (made) await inParent(access, key, target, (path) => operations.rmdir(path));
    },
    ...nothingKept,
  };
}

const nothingKept = {
  prepare: async () => null,
  leaves: () => false,
  clean: async () => undefined,
  close: async () => undefined,
};

/** Runs with the path of `target` through an open handle of its parent folder. */
async function inParent(
  access: HostAccess,
  key: string,
  target: string,
  run: (path: string) => Promise<void>,
): Promise<void> {
  // Opened at the last moment: an earlier step of the same commit may have created the folder.
  const folder = await openFolder(access.operations, await access.paths.toHost(parentOf(key) ?? ''), key);
  try {
    await run(`${folder.path}/${nameOf(target)}`);
  } finally {
    await folder.close();
  }
}
