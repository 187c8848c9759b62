import { HoldfastError } from '@holdfast/core';

/** What both filesystems take. */
export interface FilesystemOptions {
  /** Larger files are neither read nor written. Positive integer, default 10 MiB. */
  readonly maxFileBytes?: number;
  /** Further files and folders that tools may read but never change, e.g. the plugins folder. Relative to the root. */
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
