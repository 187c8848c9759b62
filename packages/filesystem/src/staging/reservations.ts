import { parentOf } from '../paths/paths.ts';
import { hasChanged } from './errors.ts';
import type { StagedNode, Staging } from './staging.ts';

/** What is about to be changed by calls that are between `prepare` and their end: nobody may build on what was there before. */
export interface Reservations {
  /** @throws HoldfastError `file.conflict` when `nodes` cannot go together with what is reserved. */
  check(nodes: ReadonlyMap<string, StagedNode>): void;
  /** The answer gives the reservation up. @throws HoldfastError `file.conflict`. */
  reserve(staging: Staging): () => void;
}

export function createReservations(): Reservations {
  const reserved = new Map<string, { readonly type: StagedNode['type']; holders: number }>();
  // Folders in which something reserved comes to lie, with how much of it.
  const needed = new Map<string, number>();

  function check(nodes: ReadonlyMap<string, StagedNode>): void {
    if (reserved.size === 0) return;
    for (const [key, { type }] of nodes) {
      const other = reserved.get(key)?.type ?? 'directory';
      // Several may make the same folder.
      const together = type === 'directory' ? other === 'directory' : !reserved.has(key) && !needed.has(key);
      if (!together) throw hasChanged(key);
      if (type === 'removed') continue;
      for (const folder of foldersAbove(key)) {
        if ((reserved.get(folder)?.type ?? 'directory') !== 'directory') throw hasChanged(folder);
      }
    }
  }

  function count(nodes: ReadonlyMap<string, StagedNode>, step: 1 | -1): void {
    for (const [key, { type }] of nodes) {
      const holders = (reserved.get(key)?.holders ?? 0) + step;
      if (holders > 0) reserved.set(key, { type, holders });
      else reserved.delete(key);
      if (type === 'removed') continue;
      for (const folder of foldersAbove(key)) {
        const amount = (needed.get(folder) ?? 0) + step;
        if (amount > 0) needed.set(folder, amount);
        else needed.delete(folder);
      }
    }
  }

  return {
    check,
    reserve({ nodes, seen }) {
      check(nodes);
      for (const key of seen.keys()) if (!nodes.has(key) && reserved.has(key)) throw hasChanged(key);
      count(nodes, 1);
      let given = false;
      return () => {
        if (!given) count(nodes, -1);
        given = true;
      };
    },
  };
}

function foldersAbove(key: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = parentOf(key); folder !== undefined; folder = parentOf(folder)) folders.push(folder);
  return folders;
}
