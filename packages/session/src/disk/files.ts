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

/** What is known of a file. */
export interface FileStatus {
  /** Together they tell one file from another, whatever its names. */
  readonly dev: number;
  readonly ino: number;
  /** Bytes. */
  readonly size: number;
  /** Type and rights. */
  readonly mode: number;
  /** Of its owner. */
  readonly uid: number;
}

/**
 * Everything that a log in lines of JSON, its lock and its reading do with files. One value of this, `nodeFiles`, is what is used;
 * tests put others in its place, whose operations fail. Whatever fails throws an error with the system's `code`.
 */
export interface LogFiles {
  /** With those above it; answers the first one that was made. */
  makeFolder(path: string): string | undefined;
  realPath(path: string): string;
  /** `new` makes a file that only its owner may read, to append to; `EEXIST` where something is, also a link. */
  open(path: string, how: 'new' | 'read' | 'read-append'): number;
  /** Reads up to as many bytes as `bytes` has from `position` on, and says how many. */
  read(descriptor: number, bytes: Uint8Array, position: number): number;
  /** Appends some of `bytes` from `start` on, and says how many. */
  write(descriptor: number, bytes: Uint8Array, start: number): number;
  truncate(descriptor: number, size: number): void;
  /** Returns when the content is on the disk. */
  sync(descriptor: number): void;
  /** Resolves when the content is on the disk. */
  syncLater(descriptor: number): Promise<void>;
  /** Returns when the names in a folder are on the disk, where the system knows of such a thing. */
  syncFolder(path: string): void;
  close(descriptor: number): void;
  status(descriptor: number): FileStatus;
  /** Of what the name leads to; `undefined` when there is none. */
  find(path: string): FileStatus | undefined;
  /** The names in a folder. */
  list(path: string): readonly string[];
  /** A second name for a file. `EEXIST` where something is. */
  link(path: string, another: string): void;
  /** `EEXIST` where something is. */
  copy(path: string, another: string): void;
  /** Replaces what is there. */
  rename(path: string, another: string): void;
  /** Does nothing when there is none. */
  remove(path: string): void;
}

/** Appends all of `bytes`; what fails halfway leaves a part of them. */
export function writeAll(files: LogFiles, descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    const more = files.write(descriptor, bytes, written);
    // Trying again would go on for ever.
    if (more <= 0) throw new Error(`the system wrote nothing of the last ${bytes.length - written} bytes`);
    written += more;
  }
}

/** Whether an operation failed for the reason that `code` names. */
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
    // Windows opens no folder, and keeps names without being asked.
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
