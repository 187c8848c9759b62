import { isHoldfastError } from '@holdfast/core';
import type { Backend, Change, PreparedChange } from './backend.ts';
import { cleanupFailed, undoFailed } from './file-errors.ts';
import type { Ground, Landing } from './ground.ts';
import { parentOf } from './paths.ts';
import type { Protection } from './protection.ts';
import { committedSource } from './reader.ts';
import { createReservations } from './reservations.ts';
import type { Staging } from './staging.ts';

/** The files of a backend as what calls lie over and commit to. */
export function createCommittedFiles(backend: Backend, protection: Protection): Ground {
  return {
    content: committedSource(backend, protection),
    reservations: createReservations(),
    protectedTargets: () => findTargets(backend, protection.keys),
    enter: () => () => undefined,
    lock: async () => (await backend.lock?.()) ?? (() => undefined),
    async prepare({ nodes }) {
      const prepared: PreparedChange[] = [];
      try {
        for (const change of await planChanges(backend, nodes)) prepared.push(await backend.prepare(change));
      } catch (error) {
        const failures = await closeAll(prepared);
        throw failures.length === 0 ? error : cleanupFailed([error, ...failures]);
      }
      return createLanding(prepared);
    },
  };
}

function createLanding(prepared: readonly PreparedChange[]): Landing {
  async function close(): Promise<void> {
    const failures = await closeAll(prepared);
    if (failures.length > 0) throw cleanupFailed(failures);
  }

  return {
    // No `await` unless a change needs one: a backend without I/O commits in one go.
    async commit() {
      const applied: PreparedChange[] = [];
      try {
        for (const change of prepared) {
          const pending = change.apply();
          if (pending !== undefined) await pending;
          applied.push(change);
        }
      } catch (error) {
        const failures = [...(await undoAll(applied)), ...(await closeAll(prepared))];
        throw failures.length === 0 ? error : undoFailed([error, ...failures]);
      }
      await close();
    },
    discard: close,
  };
}

/** What has to be done, in an order in which each step can be done: away, folders from the top down, files. */
async function planChanges(backend: Backend, nodes: Staging['nodes']): Promise<readonly Change[]> {
  const removals: Change[] = [];
  const folders: Change[] = [];
  const writes: Change[] = [];
  for (const key of [...nodes.keys()].sort()) {
    const node = nodes.get(key);
    const current = (await backend.stat(key))?.type;
    if (current !== undefined && current !== node?.type) {
      removals.unshift(
        current === 'directory'
          ? { type: 'remove-directory', key }
          : { type: 'remove-file', key, shelter: findShelter(nodes, key) },
      );
    }
    if (node?.type === 'directory' && current !== 'directory') folders.push({ type: 'make-directory', key });
    if (node?.type === 'file') writes.push({ type: 'write', key, bytes: node.bytes });
  }
  return [...removals, ...folders, ...writes];
}

function findShelter(nodes: Staging['nodes'], key: string): string {
  let folder = parentOf(key) ?? '';
  while (folder !== '' && (nodes.get(folder)?.type ?? 'directory') !== 'directory') folder = parentOf(folder) ?? '';
  return folder;
}

/** What the protected names lead to, in case they are links. */
async function findTargets(backend: Backend, keys: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    keys.map(async (key) => {
      try {
        return (await backend.locate(key)).key;
      } catch (error) {
        // A protected name that leads out of the root is out of every tool's reach.
        if (isHoldfastError(error) && error.code === 'path.escape') return key;
        throw error;
      }
    }),
  );
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
