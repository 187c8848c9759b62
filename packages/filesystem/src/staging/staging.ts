import { foldPath, type Touched } from '@holdfast/core';
import { nameOf, parentOf } from '../paths/paths.ts';
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
export class OpenStaging implements Staging {
  readonly nodes: Map<string, StagedNode> = new Map();
  readonly seen: Map<string, string | null> = new Map();
  readonly reads: Set<string> = new Set();
  readonly #names = new Map<string, Set<string>>();
  readonly #spellings = new Map<string, string>();

  /** Names of what is staged in a folder. */
  namesIn(folder: string): Iterable<string> {
    return this.#names.get(folder) ?? [];
  }

  /** What is staged under another spelling of `key`, as some disks fold names. */
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

  /** Takes over what a nested call staged, saw and read. */
  absorb(inner: Staging): void {
    for (const [key, version] of inner.seen) {
      if (!this.nodes.has(key)) this.see(key, version);
      // The nested call met what is staged here. Of a folder made on the way to something, nothing was there before.
      else if ((inner.nodes.get(key)?.type ?? 'directory') !== 'directory') this.see(key, null);
    }
    // What the nested call read of this call's own writes tells nothing of what was there before.
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
