import { foldPath } from '@holdfast/core/internal';
import type { Touched } from '@holdfast/core/types';
import { nameOf, parentOf } from '../paths/paths.ts';
import { directoryStat } from './reader.ts';

export type StagedNode =
  | { readonly type: 'file'; readonly bytes: Uint8Array; readonly version: string }
  | { readonly type: 'directory' }
  | { readonly type: 'removed' };

/** The staged changes of one call by key, and the versions that they are based on. */
export interface Staging {
  readonly nodes: ReadonlyMap<string, StagedNode>;
  /**
   * By key, the version that the call first saw; `null` for absent. Includes all staged keys except implicitly created parent folders,
   * which any other call may create as well.
   */
  readonly seen: ReadonlyMap<string, string | null>;
  /** The keys in `seen` whose content the call has read. */
  readonly reads: ReadonlySet<string>;
}

/** The staging of a running call. */
export class OpenStaging implements Staging {
  readonly nodes: Map<string, StagedNode> = new Map();
  readonly seen: Map<string, string | null> = new Map();
  readonly reads: Set<string> = new Set();
  readonly #names = new Map<string, Set<string>>();
  readonly #spellings = new Map<string, string>();

  /** The names of staged entries in a folder. */
  namesIn(folder: string): Iterable<string> {
    return this.#names.get(folder) ?? [];
  }

  /** Another spelling of `key` that is staged, for disks that fold names. */
  otherSpelling(key: string): string | undefined {
    return this.nodes.size === 0 || this.nodes.has(key) ? undefined : this.#spellings.get(foldPath(key));
  }

  stage(added: ReadonlyMap<string, StagedNode>): void {
    for (const [key, node] of added) {
      this.nodes.set(key, node);
      this.#spellings.set(foldPath(key), key);
      const folder = parentOf(key) ?? '';
      const siblings = this.#names.get(folder) ?? new Set();
      this.#names.set(folder, siblings.add(nameOf(key)));
    }
  }

  /** Only the first version counts. */
  see(key: string, version: string | null): void {
    if (!this.seen.has(key)) this.seen.set(key, version);
  }

  /** Merges the changes and reads of a nested call. */
  absorb(inner: Staging): void {
    for (const [key, version] of inner.seen) {
      if (!this.nodes.has(key)) this.see(key, version);
      // The nested call saw a key staged here. A parent folder created implicitly did not exist before.
      else if ((inner.nodes.get(key)?.type ?? 'directory') !== 'directory') this.see(key, null);
    }
    // Reads of this call's own writes say nothing about the previous state.
    for (const key of inner.reads) if (this.seen.get(key) === inner.seen.get(key)) this.reads.add(key);
    this.stage(inner.nodes);
  }

  touched(): Touched {
    const writes: { key: string; before: string | null; after: string | null }[] = [];
    for (const [key, node] of this.nodes) {
      const before = this.seen.get(key);
      const after = node.type === 'file' ? node.version : node.type === 'directory' ? directoryStat.version : null;
      if (before !== undefined && !(before === null && after === null)) writes.push({ key, before, after });
    }
    return { reads: Array.from(this.reads, (key) => ({ key, version: this.seen.get(key) ?? null })), writes };
  }
}
