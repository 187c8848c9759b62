import type { FileEntry } from '@holdfast/core';

/** Where the files of a filesystem are kept. Keys are canonical: what `parsePath` gives, with links resolved by `locate`. */
export interface Backend {
  /**
   * The key of the real file behind `key`, with the names that it really has where the disk finds it by others too.
   *
   * @throws HoldfastError `path.escape` when that is outside the root.
   */
  locate(key: string): Promise<Location>;
  /** Whether names that differ in letter case alone are one name in a folder, which need not exist yet. */
  folds(key: string): Promise<boolean>;
  /** `undefined` when there is nothing. Follows no link. */
  stat(key: string): Promise<BackendStat | undefined>;
  /** @throws HoldfastError `file.missing`, `file.is_directory`, `file.too_large`, `path.escape`. */
  read(key: string): Promise<Uint8Array>;
  /** Entries in any order. @throws HoldfastError `file.missing`, `file.not_directory`, `path.escape`. */
  list(key: string): Promise<readonly BackendEntry[]>;
  /** Does all of a commit that can fail early and shows nowhere. `mark`: as `ResourceTransaction.prepare` says. */
  prepare(changes: readonly Change[], mark?: string): Promise<Landing>;
  /** Keeps others that share the files, and not this process, from committing until the answer is called. @throws HoldfastError `file.busy`. */
  lock?(): Promise<() => void>;
  /**
   * Ends the commits that processes left unfinished, as far as `request` decides them or nobody will, and answers with the marks of
   * the others.
   */
  settle?(request: SettleRequest): Promise<readonly string[]>;
}

export interface SettleRequest {
  /** As `StagedResource.recover` says. */
  readonly decided?: { readonly mark: string; readonly committed: boolean };
  /** What to ask before a key is changed: it throws for one that no tool may change. */
  loadCheck(): Promise<(key: string) => void>;
}

/** A prepared commit. One of the two is called, once. */
export interface Landing {
  commit(): Promise<void>;
  discard(): Promise<void>;
}

export interface Location {
  readonly key: string;
  /** Whether the path itself, rather than a folder on the way, is a link. */
  readonly link: boolean;
}

export interface BackendStat {
  readonly type: 'file' | 'directory';
  /** Bytes. */
  readonly size: number;
  /** Stands for the version of a file that is too large to be read. */
  readonly stamp: string;
}

export interface BackendEntry {
  readonly name: string;
  /** `other`: a pipe, a device, a link that does not lead to a place inside the root. Never shown. */
  readonly type: FileEntry['type'] | 'other';
  /** The key of the target when the entry is a link to a place inside the root. */
  readonly target?: string;
}

/** `before`: the version that is replaced or removed. */
export type Change =
  | {
      readonly type: 'write';
      readonly key: string;
      readonly bytes: Uint8Array;
      readonly version: string;
      readonly before: string | null;
    }
  | { readonly type: 'make-directory'; readonly key: string }
  // `shelter`: the nearest folder above that the commit does not remove.
  | { readonly type: 'remove-file'; readonly key: string; readonly shelter: string; readonly before: string | null }
  | { readonly type: 'remove-directory'; readonly key: string };
