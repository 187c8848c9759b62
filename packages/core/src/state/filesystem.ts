/**
 * A folder as tools and policies see it. Paths are the caller's spelling; `resolve` gives the one key that all spellings of a
 * path share: relative to the root, separated by `/`, without a leading one, `''` for the root itself.
 *
 * Every method refuses a path that leaves the root: `path.escape`, `path.invalid`, `path.protected`.
 */
export interface FilesystemReader {
  resolve(path: string): Promise<string>;
  /** `undefined` when there is nothing. */
  stat(path: string): Promise<FileStat | undefined>;
  /**
   * `peek` looks without having read, as a search through many files does: `touched` does not list it, and that somebody changes
   * the file meanwhile is no conflict.
   *
   * @throws HoldfastError `file.missing`, `file.is_directory`, `file.too_large`.
   */
  read(path: string, options?: { readonly peek?: boolean }): Promise<Uint8Array>;
  /** @throws HoldfastError as `read`, and `file.binary` when the bytes are not UTF-8 text. */
  readText(path: string): Promise<string>;
  /** Entries of one folder in name order. @throws HoldfastError `file.missing`, `file.not_directory`. */
  list(path: string): Promise<readonly FileEntry[]>;
  /** Every file under `path`, in path order; skips `.git` and `node_modules`. */
  walk(path?: string): AsyncIterable<FileEntry>;
}

/** A folder with staged writes: seen at once by the same call, in the folder itself only after its commit. */
export interface Filesystem extends FilesystemReader {
  /** Makes the folders on the way. @throws HoldfastError `file.is_directory`, `file.not_directory`. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Removes a file or an empty folder. @throws HoldfastError `file.missing`, `file.not_empty`. */
  remove(path: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
}

/** What is known of a file or folder without reading it. */
export interface FileStat {
  readonly type: 'file' | 'directory';
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** Of a file, changes whenever the content does: compare, never read. Of every folder `directory`, and of no file. */
  readonly version: string;
}

/** One name in a folder. */
export interface FileEntry {
  /** As `resolve` gives it. */
  readonly path: string;
  readonly name: string;
  readonly type: 'file' | 'directory';
}
