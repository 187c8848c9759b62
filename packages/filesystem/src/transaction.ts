import {
  type Filesystem,
  type FilesystemReader,
  HoldfastError,
  type ResourceTransaction,
  type StagedResource,
} from '@holdfast/core';
import type { Backend, Change, PreparedChange } from './backend.ts';
import { hasChanged, undoFailed } from './file-errors.ts';
import { createOverlay, type Overlay } from './overlay.ts';
import { parentOf } from './paths.ts';
import type { Protection } from './protection.ts';
import { committedSource, createReader, versionAt } from './reader.ts';

/** Makes the staged resource of a backend. */
export function createStagedFilesystem(
  backend: Backend,
  protection: Protection,
  maxFileBytes: number,
): StagedResource<Filesystem, FilesystemReader> {
  // Keys whose change is between `prepare` and its end: who prepares meanwhile must not have built on them.
  const reserved = new Set<string>();
  return Object.freeze({
    type: 'staged-resource',
    readOnly: Object.freeze(createReader(committedSource(backend, protection), protection)),
    begin: () => createTransaction(backend, createOverlay(backend, protection, maxFileBytes), reserved),
  });
}

function createTransaction(backend: Backend, overlay: Overlay, reserved: Set<string>): ResourceTransaction<Filesystem> {
  const { view, staged, seen, touched } = overlay;
  let changes: readonly PreparedChange[] | undefined;
  let ended = false;
  let unlock: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();

  async function prepare(): Promise<void> {
    // Nothing is written, so nobody's change can be lost, whatever was read.
    if (staged.size === 0) {
      changes = [];
      return;
    }
    for (const key of [...seen.keys(), ...staged.keys()]) if (reserved.has(key)) throw hasChanged(key);
    for (const key of staged.keys()) reserved.add(key);
    const prepared: PreparedChange[] = [];
    try {
      // Taken before the files are looked at and kept until they are replaced, so that no other process gets between.
      unlock = await backend.lock?.();
      for (const [key, version] of seen) {
        if ((await versionAt(backend, key)) !== version) throw hasChanged(key);
      }
      for (const change of await planChanges(backend, staged)) prepared.push(await backend.prepare(change));
    } catch (error) {
      release();
      const failures = await closeAll(prepared);
      throw failures.length === 0 ? error : cleanupError([error, ...failures]);
    }
    changes = prepared;
  }

  function release(): void {
    unlock?.();
    unlock = undefined;
    for (const key of staged.keys()) reserved.delete(key);
  }

  // No `await` unless a change needs one: a backend without I/O commits in one go.
  async function commit(prepared: readonly PreparedChange[]): Promise<void> {
    const applied: PreparedChange[] = [];
    try {
      for (const change of prepared) {
        const pending = change.apply();
        if (pending !== undefined) await pending;
        applied.push(change);
      }
    } catch (error) {
      const failures = [...(await undoAll(applied)), ...(await closeAll(prepared))];
      release();
      throw failures.length === 0 ? error : undoFailed([error, ...failures]);
    }
    release();
    const failures = await closeAll(prepared);
    if (failures.length > 0) throw cleanupError(failures);
  }

  return {
    view,
    touched,
    prepare() {
      if (ended || changes !== undefined) throw closedError();
      overlay.close();
      running = prepare();
      return running;
    },
    commit() {
      if (ended) throw closedError();
      if (changes === undefined) {
        throw new HoldfastError(
          'resource.not_prepared',
          'A filesystem transaction must be prepared before its commit.',
        );
      }
      ended = true;
      running = commit(changes);
      return running;
    },
    async discard() {
      overlay.close();
      // What is under way ends first; its failure went to whoever started it.
      await Promise.allSettled([running]);
      if (ended) return;
      ended = true;
      if (changes === undefined) return;
      release();
      const failures = await closeAll(changes);
      if (failures.length > 0) throw cleanupError(failures);
    },
  };
}

/** What has to be done, in an order in which each step can be done: away, folders from the top down, files. */
async function planChanges(backend: Backend, staged: Overlay['staged']): Promise<readonly Change[]> {
  const removals: Change[] = [];
  const folders: Change[] = [];
  const writes: Change[] = [];
  for (const key of [...staged.keys()].sort()) {
    const node = staged.get(key);
    // Somebody may have put a link in the way since the path was resolved.
    if ((await backend.locate(key)).key !== key) throw hasChanged(key);
    const current = (await backend.stat(key))?.type;
    if (current !== undefined && current !== node?.type) {
      removals.unshift(
        current === 'directory'
          ? { type: 'remove-directory', key }
          : { type: 'remove-file', key, shelter: findShelter(staged, key) },
      );
    }
    if (node?.type === 'directory' && current !== 'directory') folders.push({ type: 'make-directory', key });
    if (node?.type === 'file') writes.push({ type: 'write', key, bytes: node.bytes });
  }
  return [...removals, ...folders, ...writes];
}

function findShelter(staged: Overlay['staged'], key: string): string {
  let folder = parentOf(key) ?? '';
  while (folder !== '' && (staged.get(folder)?.type ?? 'directory') !== 'directory') folder = parentOf(folder) ?? '';
  return folder;
}

async function undoAll(applied: readonly PreparedChange[]): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  for (const change of applied.toReversed()) {
    try {
      await change.undo();
    } catch (failure) {
      failures.push(failure);
    }
  }
  return failures;
}

/** Closes every change, also when one cannot be closed. */
async function closeAll(changes: readonly PreparedChange[]): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  for (const change of changes) {
    try {
      const pending = change.close();
      if (pending !== undefined) await pending;
    } catch (failure) {
      failures.push(failure);
    }
  }
  return failures;
}

function cleanupError(failures: readonly unknown[]): HoldfastError {
  return new HoldfastError('file.cleanup_failed', 'Temporary files named `.holdfast-*` could not be removed.', {
    cause: new AggregateError(failures),
  });
}

function closedError(): HoldfastError {
  return new HoldfastError('context.closed', 'This filesystem transaction has ended.');
}
