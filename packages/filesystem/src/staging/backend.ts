import type { FileEntry } from '@holdfast/core/types';

/** The storage of a filesystem. Keys are canonical: results of `parsePath` with links resolved by `locate`. */
export interface Backend {
  /**
   * The key of the real file behind `key`, with the names on disk if the disk folds names.
   *
   * @throws HoldfastError `path.invalid` if it is outside the root.
   */
  locate(key: string): Promise<Location>;
  /** True if names that differ only in letter case are equal in a folder, which may not exist yet. */
  folds(key: string): Promise<boolean>;
  /** `undefined` if it does not exist. Follows no link. */
  stat(key: string): Promise<BackendStat | undefined>;
  /** @throws HoldfastError `file.missing`, `file.invalid`, `path.invalid`. */
  read(key: string): Promise<Uint8Array>;
  /** Entries in any order. @throws HoldfastError `file.missing`, `file.invalid`, `path.invalid`. */
  list(key: string): Promise<readonly BackendEntry[]>;
  /**
   * Does everything of a commit that can fail early, without visible effects. `mark`: as in
   * `ResourceTransaction.prepare`.
   */
  prepare(changes: readonly Change[], mark?: string): Promise<Landing>;
  /**
   * Prevents other processes that share the files from committing until the returned function is called. @throws HoldfastError `file.busy`.
   */
  lock?(): Promise<() => void>;
  /** Finishes interrupted commits that `request` decides or that no one else will, and returns the marks of the others. */
  settle?(request: SettleRequest): Promise<readonly string[]>;
}

export interface SettleRequest {
  /** As in `StagedResource.recover`. */
  readonly decided?: { readonly mark: string; readonly committed: boolean };
  /** Loads a check to call before a key is changed; it throws for a protected key. */
  loadCheck(): Promise<(key: string) => void>;
}

/** A prepared commit. Exactly one of the two is called, once. */
export interface Landing {
  commit(): Promise<void>;
  discard(): Promise<void>;
}

export interface Location {
  readonly key: string;
  /** True if the path itself is a link, not just a parent folder. */
  readonly link: boolean;
}

export interface BackendStat {
  readonly type: 'file' | 'directory';
  /** Bytes. */
  readonly size: number;
  /** The version of a file that is too large to read. */
  readonly stamp: string;
}

export interface BackendEntry {
  readonly name: string;
  /** `other`: a pipe, a device, or a link that leads out of the root. Never shown. */
  readonly type: FileEntry['type'] | 'other';
  /** The key of the target if the entry is a link within the root. */
  readonly target?: string;
}

/** `before`: the version to be replaced or removed. */
export type Change =
  | {
      readonly type: 'write';
      readonly key: string;
      readonly bytes: Uint8Array;
      readonly version: string;
      readonly before: string | null;
    }
  | { readonly type: 'make-directory'; readonly key: string }
  // `shelter`: the nearest parent folder that the commit does not remove.
  | { readonly type: 'remove-file'; readonly key: string; readonly shelter: string; readonly before: string | null }
  | { readonly type: 'remove-directory'; readonly key: string };
