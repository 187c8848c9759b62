import { constants, existsSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { fileError } from '../staging/errors.ts';

/** The part of `node:fs/promises` that a host folder is used through. Tests pass one that fails. */
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

/** A folder that stays the same one while its path may be moved or replaced by a link. */
export interface HostFolder {
  /** Where the folder is reached. On Linux through its open handle, which no link can redirect. */
  readonly path: string;
  /** @throws HoldfastError `path.escape` when the folder is not at its place any more. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const handles = '/proc/self/fd';
const throughHandles = process.platform === 'linux' && existsSync(handles);

/**
 * Opens the folder at `hostPath`, which must hold no links. Elsewhere than on Linux a moment stays between the check and what
 * is done after it, because Node has no operations relative to an open folder.
 *
 * @throws HoldfastError `path.escape`, and what the operating system answers.
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
  // What was only read has nothing to lose. A failure here must not pass for one of what was done through the folder.
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
  return fileError('path.escape', key, 'lies in a folder that was moved or replaced by a link during the call');
}
