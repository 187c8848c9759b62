import { realpathSync, statSync } from 'node:fs';
import * as operations from 'node:fs/promises';
import { type Filesystem, type FilesystemReader, HoldfastError, type StagedResource } from '@holdfast/core';
import { createHostBackend } from './host/backend.ts';
import { createProtection } from './paths/protection.ts';
import { checkOptions, type FilesystemOptions } from './staging/options.ts';
import { createStagedFilesystem } from './staging/transaction.ts';

export type { FilesystemOptions } from './staging/options.ts';

/**
 * The folder `root` of this machine. Writes are staged in memory, written to temporary files by `prepare` and moved into place by `commit`,
 * atomically even if the process ends in between: `unsettled` and `recover` let another process finish. Nothing outside the real path of
 * the folder is reached, whatever links it contains.
 *
 * @throws HoldfastError `filesystem.missing` if `root` is not a folder, `options.invalid`, and `path.invalid` for
 * `protectedPaths`.
 */
export function hostFilesystem(
  root: string,
  options: FilesystemOptions = {},
): StagedResource<Filesystem, FilesystemReader> {
  const { maxFileBytes, protectedPaths } = checkOptions(options);
  const backend = createHostBackend(realFolder(root), operations, maxFileBytes);
  return createStagedFilesystem(backend, createProtection(protectedPaths), maxFileBytes);
}

function realFolder(root: string): string {
  try {
    const real = realpathSync.native(root);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw rootError(root, cause);
  }
  throw rootError(root);
}

function rootError(root: string, cause?: unknown): HoldfastError {
  return new HoldfastError('filesystem.missing', `\`${root}\` must be an existing folder.`, {
    data: { reason: 'root', root },
    cause,
  });
}
