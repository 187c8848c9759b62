import { isHoldfastError } from '@holdfast/core';
import { parentOf } from '../paths/paths.ts';
import type { Protection } from '../paths/protection.ts';
import type { Backend, Change } from './backend.ts';
import type { Ground } from './ground.ts';
import { committedSource } from './reader.ts';
import { Reservations } from './reservations.ts';
import type { Staging } from './staging.ts';

/** The committed files of a backend as the ground of calls. */
export function createCommittedFiles(backend: Backend, protection: Protection): Ground {
  return {
    content: committedSource(backend, protection),
    reservations: new Reservations(),
    protectedTargets: () => findTargets(backend, protection.keys),
    enter: () => () => undefined,
    lock: async () => (await backend.lock?.()) ?? (() => undefined),
    prepare: async (staging, mark) => backend.prepare(await planChanges(backend, staging), mark),
  };
}

/** The changes in a feasible order: removals, folders from the top down, files. */
async function planChanges(backend: Backend, { nodes, seen }: Staging): Promise<readonly Change[]> {
  const removals: Change[] = [];
  const folders: Change[] = [];
  const writes: Change[] = [];
  for (const key of [...nodes.keys()].sort()) {
    const node = nodes.get(key);
    const current = (await backend.stat(key))?.type;
    const before = current === 'file' ? (seen.get(key) ?? null) : null;
    if (current !== undefined && current !== node?.type) {
      removals.unshift(
        current === 'directory'
          ? { type: 'remove-directory', key }
          : { type: 'remove-file', key, shelter: findShelter(nodes, key), before },
      );
    }
    if (node?.type === 'directory' && current !== 'directory') folders.push({ type: 'make-directory', key });
    if (node?.type === 'file') {
      writes.push({ type: 'write', key, bytes: node.bytes, version: node.version, before });
    }
  }
  return [...removals, ...folders, ...writes];
}

function findShelter(nodes: Staging['nodes'], key: string): string {
  let folder = parentOf(key) ?? '';
  while (folder !== '' && (nodes.get(folder)?.type ?? 'directory') !== 'directory') folder = parentOf(folder) ?? '';
  return folder;
}

/** The targets of protected names that are links. */
async function findTargets(backend: Backend, keys: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    keys.map(async (key) => {
      try {
        return (await backend.locate(key)).key;
      } catch (error) {
        // A protected name that leads out of the root is unreachable for tools.
        if (isHoldfastError(error) && error.reason === 'escape') return key;
        throw error;
      }
    }),
  );
}
