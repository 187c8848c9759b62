import type { Filesystem, FilesystemReader, StagedResource } from '@holdfast/core';
import { parsePath } from '../paths/paths.ts';
import { createProtection } from '../paths/protection.ts';
import { toBytes } from '../staging/content.ts';
import { checkOptions, type FilesystemOptions } from '../staging/options.ts';
import { createStagedFilesystem } from '../staging/transaction.ts';
import { MemoryBackend } from './backend.ts';

/**
 * A filesystem in memory, initialized with `files` (by path). Writes are staged as in a host folder.
 *
 * @throws HoldfastError `options.invalid`, `path.invalid`, `file.invalid` if one path is both a file and a folder.
 */
export function memoryFilesystem(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: FilesystemOptions = {},
): StagedResource<Filesystem, FilesystemReader> {
  const { maxFileBytes, protectedPaths } = checkOptions(options);
  const content = new Map<string, Uint8Array>();
  for (const [path, text] of Object.entries(files)) content.set(parsePath(path), toBytes(text, path));
  return createStagedFilesystem(
    new MemoryBackend(content, maxFileBytes),
    createProtection(protectedPaths),
    maxFileBytes,
  );
}
