import type { Touched } from '@holdfast/core';
import { foldNames, nameOf, parentOf } from '../paths/paths.ts';
import { directoryStat } from './reader.ts';

export type StagedNode =
  | { readonly type: 'file'; readonly bytes: Uint8Array; readonly version: string }
  | { readonly type: 'directory' }
  | { readonly type: 'removed' };

/** What one call staged, by key, and what it built on. */
export interface Staging {
  readonly nodes: ReadonlyMap<string, StagedNode>;
  /**
   * By key, the version that the call first met; `null` for absent. Of what is staged, only folders that were made on the way
   * to something else are not in it: nothing was there, and it does not matter who else makes them.
   */
  readonly seen: ReadonlyMap<string, string | null>;
  /** Keys of `seen` whose content the call has read. */
  readonly reads: ReadonlySet<string>;
}

/** The staging of a call that goes on. */
export interface OpenStaging extends Staging {
  /** Names of what is staged in a folder. */
  namesIn(folder: string): Iterable<string>;
  /** What is staged under another spelling of `key`, as some disks fold names. */
  otherSpelling(key: string): string | undefined;
  stage(nodes: ReadonlyMap<string, StagedNode>): void;
  /** Only the first version counts. */
  see(key: string, version: string | null): void;
  read(key: string): void;
  /** Takes over what a nested call staged, saw and read. */
  absorb(inner: Staging): void;
  touched(): Touched;
}

export function createStaging(): OpenStaging {
  const nodes = new Map<string, StagedNode>();
  const names = new Map<string, Set<string>>();
  const spellings = new Map<string, string>();
  const seen = new Map<string, string | null>();
  const reads = new Set<string>();

  function see(key: string, version: string | null): void {
    if (!seen.has(key)) seen.set(key, version);
  }

  function stage(added: ReadonlyMap<string, StagedNode>): void {
    for (const [key, node] of added) {
      nodes.set(key, node);
      spellings.set(foldNames(key), key);
      const folder = parentOf(key) ?? '';
      const siblings = names.get(folder) ?? new Set();
      names.set(folder, siblings.add(nameOf(key)));
    }
  }

  return {
    nodes,
    seen,
    reads,
    namesIn: (folder) => names.get(folder) ?? [],
    otherSpelling(key) {
      return nodes.size === 0 || nodes.has(key) ? undefined : spellings.get(foldNames(key));
    },
    stage,
    see,
    read: (key) => reads.add(key),
    absorb(inner) {
      for (const [key, version] of inner.seen) {
        if (!nodes.has(key)) see(key, version);
        // The nested call met what is staged here. Of a folder made on the way to something, nothing was there before.
        else if ((inner.nodes.get(key)?.type ?? 'directory') !== 'directory') see(key, null);
      }
      // What the nested call read of this call's own writes tells nothing of what was there before.
      for (const key of inner.reads) if (seen.get(key) === inner.seen.get(key)) reads.add(key);
      stage(inner.nodes);
    },
    touched() {
      const writes: { key: string; before: string | null; after: string | null }[] = [];
      for (const [key, node] of nodes) {
        const before = seen.get(key);
        const after = node.type === 'file' ? node.version : node.type === 'directory' ? directoryStat.version : null;
        if (before !== undefined && !(before === null && after === null)) writes.push({ key, before, after });
      }
      return { reads: Array.from(reads, (key) => ({ key, version: seen.get(key) ?? null })), writes };
    },
  };
}
