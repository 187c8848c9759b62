import { parentOf } from '../paths/paths.ts';
import { hasChanged } from './errors.ts';
import type { StagedNode, Staging } from './staging.ts';

/** The pending changes of calls between `prepare` and their end. No other call may build on the previous state. */
export class Reservations {
  readonly #reserved = new Map<string, { readonly type: StagedNode['type']; holders: number }>();
  /** Folders that will contain reserved changes, with their number. */
  readonly #needed = new Map<string, number>();

  /** @throws HoldfastError `file.conflict` if `nodes` conflict with a reservation. */
  check(nodes: ReadonlyMap<string, StagedNode>): void {
    const reserved = this.#reserved;
    if (reserved.size === 0) return;
    for (const [key, { type }] of nodes) {
      const other = reserved.get(key)?.type ?? 'directory';
      // Several calls may create the same folder.
      const together = type === 'directory' ? other === 'directory' : !reserved.has(key) && !this.#needed.has(key);
      if (!together) throw hasChanged(key);
      if (type === 'removed') continue;
      for (const folder of foldersAbove(key)) {
        if ((reserved.get(folder)?.type ?? 'directory') !== 'directory') throw hasChanged(folder);
      }
    }
  }

  /** Returns a function that ends the reservation. @throws HoldfastError `file.conflict`. */
  reserve({ nodes, seen }: Staging): () => void {
    this.check(nodes);
    for (const key of seen.keys()) if (!nodes.has(key) && this.#reserved.has(key)) throw hasChanged(key);
    this.#count(nodes, 1);
    let given = false;
    return () => {
      if (!given) this.#count(nodes, -1);
      given = true;
    };
  }

  #count(nodes: ReadonlyMap<string, StagedNode>, step: 1 | -1): void {
    for (const [key, { type }] of nodes) {
      const holders = (this.#reserved.get(key)?.holders ?? 0) + step;
      if (holders > 0) this.#reserved.set(key, { type, holders });
      else this.#reserved.delete(key);
      if (type === 'removed') continue;
      for (const folder of foldersAbove(key)) {
        const amount = (this.#needed.get(folder) ?? 0) + step;
        if (amount > 0) this.#needed.set(folder, amount);
        else this.#needed.delete(folder);
      }
    }
  }
}

function foldersAbove(key: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = parentOf(key); folder !== undefined; folder = parentOf(folder)) folders.push(folder);
  return folders;
}
