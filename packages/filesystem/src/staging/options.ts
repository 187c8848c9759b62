import { HoldfastError } from '@holdfast/core';

/** Options of both filesystems. */
export interface FilesystemOptions {
  /** Maximum size of files to read and write. Positive integer, default 10 MiB. */
  readonly maxFileBytes?: number;
  /** Additional files and folders that tools may read but never change, such as the plugins folder. Relative to the root. */
  readonly protectedPaths?: readonly string[];
}

const defaultMaxFileBytes = 10 * 1024 * 1024;

/** Fills in the defaults. @throws HoldfastError `options.invalid`. */
export function checkOptions(options: FilesystemOptions): Required<FilesystemOptions> {
  const { maxFileBytes = defaultMaxFileBytes, protectedPaths = [] } = options;
  if (!Number.isSafeInteger(maxFileBytes) || maxFileBytes < 1) {
    throw new HoldfastError('options.invalid', `\`maxFileBytes\` must be a positive integer, got \`${maxFileBytes}\`.`);
  }
  return { maxFileBytes, protectedPaths };
}
