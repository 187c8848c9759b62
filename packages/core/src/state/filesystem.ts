/**
 * A folder as tools and policies see it. Paths may be in any spelling; `resolve` returns the one key that all spellings of a path share:
 * relative to the root, separated by `/`, without a leading one, `''` for the root itself.
 *
 * Every method rejects paths that leave the root: `path.invalid`.
 */
export interface FilesystemReader {
  resolve(path: string): Promise<string>;
  /** `undefined` if the path does not exist. */
  stat(path: string): Promise<FileStat | undefined>;
  /**
   * `peek` reads without counting as read, as a search through many files does: `touched` does not list the file, and concurrent changes of
   * it do not conflict.
   *
   * @throws HoldfastError `file.missing`, `file.invalid`.
   */
  read(path: string, options?: { readonly peek?: boolean }): Promise<Uint8Array>;
  /** @throws HoldfastError as `read`, and `file.invalid` if the bytes are not UTF-8 text. */
  readText(path: string): Promise<string>;
  /** Entries of one folder in name order. @throws HoldfastError `file.missing`, `file.invalid`. */
  list(path: string): Promise<readonly FileEntry[]>;
  /** Every file under `path`, in path order; skips `.git` and `node_modules`. */
  walk(path?: string): AsyncIterable<FileEntry>;
}

/** A folder with staged writes: visible at once to the same call, and in the folder after its commit. */
export interface Filesystem extends FilesystemReader {
  /** Creates missing parent folders. @throws HoldfastError `file.invalid`. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Removes a file or an empty folder. @throws HoldfastError `file.missing`, `file.invalid`. */
  remove(path: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
}

/** The status of a file or folder. */
export interface FileStat {
  readonly type: 'file' | 'directory';
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** For a file, changes whenever its content does: compare it, do not parse it. For a folder always `directory`. */
  readonly version: string;
}

/** One name in a folder. */
export interface FileEntry {
  /** As returned by `resolve`. */
  readonly path: string;
  readonly name: string;
  readonly type: 'file' | 'directory';
}
