import { constants, existsSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { pathInvalid } from '../staging/errors.ts';

/** The part of `node:fs/promises` used on a host folder. Tests inject failures. */
export type HostOperations = Pick<
  typeof promises,
  | 'access'
  | 'chmod'
  | 'link'
  | 'lstat'
  | 'mkdir'
  | 'open'
  | 'readdir'
  | 'readlink'
  | 'realpath'
  | 'rename'
  | 'rmdir'
  | 'unlink'
>;

/** A folder that stays the same even if its path is moved or replaced by a link. */
export interface HostFolder {
  /** The path of the folder. On Linux through its open handle, which no link can redirect. */
  readonly path: string;
  /** @throws HoldfastError `path.invalid` if the folder is no longer in its place. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** To read a file that may be replaced by a link, which is not followed, or by a pipe, which would block. */
export const readOnlyFlags: number = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const handles = '/proc/self/fd';
const throughHandles = process.platform === 'linux' && existsSync(handles);

/**
 * Opens the folder at `hostPath`, which must not contain links. Except on Linux, a race remains between the check and the operation,
 * because Node.js has no operations relative to an open folder.
 *
 * @throws HoldfastError `path.invalid`, and file system errors.
 */
export async function openFolder(operations: HostOperations, hostPath: string, key: string): Promise<HostFolder> {
  if (!throughHandles) {
    const check = async () => {
      if ((await operations.realpath(hostPath)) !== hostPath) throw moved(key);
    };
    await check();
    return { path: hostPath, check, close: async () => undefined };
  }
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle: FileHandle = await operations.open(hostPath, flags);
  // The handle was only read. An error from closing it must not pass for an error of the operation.
  const close = () => handle.close().catch(() => undefined);
  const path = `${handles}/${handle.fd}`;
  const check = async () => {
    if ((await operations.readlink(path)) !== hostPath) throw moved(key);
  };
  try {
    await check();
  } catch (error) {
    await close();
    throw error;
  }
  return { path, check, close };
}

function moved(key: string): Error {
  return pathInvalid('escape', key, 'is in a folder that was moved or replaced by a link during the call');
}
