import {
  closeSync,
  constants,
  copyFileSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';

/** Status of a file. */
export interface FileStatus {
  /** Together with `ino`, identifies a file regardless of its names. */
  readonly dev: number;
  readonly ino: number;
  /** Bytes. */
  readonly size: number;
  /** Type and permissions. */
  readonly mode: number;
  /** Owner. */
  readonly uid: number;
}

/**
 * The file operations that JSON-lines logs and locks use. `nodeFiles` is the real implementation; tests substitute others whose
 * operations fail. Failures throw an error with the system's `code`.
 */
export interface LogFiles {
  /** Creates the folder and its parents; returns the first one created. */
  makeFolder(path: string): string | undefined;
  realPath(path: string): string;
  /** `new` creates a file that only its owner may read, for appending; `EEXIST` if the path exists, even as a link. */
  open(path: string, how: 'new' | 'read' | 'read-append'): number;
  /** Reads up to `bytes.length` bytes from `position`; returns the number read. */
  read(descriptor: number, bytes: Uint8Array, position: number): number;
  /** Appends some of `bytes` from `start`; returns the number written. */
  write(descriptor: number, bytes: Uint8Array, start: number): number;
  truncate(descriptor: number, size: number): void;
  /** Returns when the content is on the disk. */
  sync(descriptor: number): void;
  /** Resolves when the content is on the disk. */
  syncLater(descriptor: number): Promise<void>;
  /** Returns when the names in a folder are on the disk, on systems that support it. */
  syncFolder(path: string): void;
  close(descriptor: number): void;
  status(descriptor: number): FileStatus;
  /** Follows links; `undefined` if the path does not exist. */
  find(path: string): FileStatus | undefined;
  /** The names in a folder. */
  list(path: string): readonly string[];
  /** Adds a second name to a file. `EEXIST` if the path exists. */
  link(path: string, another: string): void;
  /** `EEXIST` if the path exists. */
  copy(path: string, another: string): void;
  /** Replaces an existing file. */
  rename(path: string, another: string): void;
  /** Does nothing if the path does not exist. */
  remove(path: string): void;
}

/** Appends all of `bytes`; a failure may leave a part of them. */
export function writeAll(files: LogFiles, descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    const more = files.write(descriptor, bytes, written);
    // A retry would loop forever.
    if (more <= 0) throw new Error(`the system wrote nothing of the last ${bytes.length - written} bytes`);
    written += more;
  }
}

/** True if an operation failed with the system's `code`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

const flags = {
  new: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL,
  read: constants.O_RDONLY,
  'read-append': constants.O_RDWR | constants.O_APPEND,
} as const;

const syncLater = promisify(fdatasync);

export const nodeFiles: LogFiles = {
  makeFolder: (path) => mkdirSync(path, { recursive: true }),
  realPath: (path) => realpathSync(path),
  open: (path, how) => openSync(path, flags[how], 0o600),
  read: (descriptor, bytes, position) => readSync(descriptor, bytes, 0, bytes.length, position),
  write: (descriptor, bytes, start) => writeSync(descriptor, bytes, start),
  truncate: (descriptor, size) => ftruncateSync(descriptor, size),
  sync: (descriptor) => fdatasyncSync(descriptor),
  syncLater: (descriptor) => syncLater(descriptor),
  syncFolder(path) {
    // Windows cannot open a folder, and syncs names by itself.
    if (process.platform === 'win32') return;
    const descriptor = openSync(path, flags.read);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
  close: (descriptor) => closeSync(descriptor),
  status: (descriptor) => fstatSync(descriptor),
  find: (path) => statSync(path, { throwIfNoEntry: false }),
  list: (path) => readdirSync(path),
  link: (path, another) => linkSync(path, another),
  copy: (path, another) => copyFileSync(path, another, constants.COPYFILE_EXCL),
  rename: (path, another) => renameSync(path, another),
  remove: (path) => rmSync(path, { force: true }),
};
