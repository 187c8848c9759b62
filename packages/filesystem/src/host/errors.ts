import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { showPath } from '../paths/paths.ts';
import { fileError, isDirectory, isMissing, isNotDirectory, isNotEmpty, pathInvalid } from '../staging/errors.ts';

/** Converts a system error about `key`. Its own message contains host paths, so only its code is passed on. */
export function toFileError(cause: unknown, key: string, doing: 'read' | 'write'): HoldfastError {
  if (isHoldfastError(cause)) return cause;
  switch (systemCode(cause)) {
    case 'ENOENT':
      return isMissing(key, cause);
    case 'EISDIR':
      return isDirectory(key, cause);
    case 'ENOTDIR':
      return isNotDirectory(key, cause);
    case 'ENOTEMPTY':
      return isNotEmpty(key, cause);
    case 'ELOOP':
      return leavesRoot(key, cause);
    case 'ENAMETOOLONG':
      return fileError('path.invalid', key, 'is longer than the operating system allows', cause);
    default: {
      const reason = reasons.get(systemCode(cause)) ?? 'the operating system refused';
      const verb = doing === 'read' ? 'read' : 'changed';
      return new HoldfastError(
        doing === 'read' ? 'file.unreadable' : 'file.write_failed',
        `\`${showPath(key)}\` cannot be ${verb}: ${reason} (${systemCode(cause)}).`,
        { data: { path: key, systemCode: systemCode(cause) }, cause },
      );
    }
  }
}

/** A link that leads out of the root, to nothing, or in a circle. */
export function leavesRoot(key: string, cause?: unknown): HoldfastError {
  return pathInvalid('escape', key, 'is behind a link that does not lead to a place inside the workspace', cause);
}

export function systemCode(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'UNKNOWN';
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ENOSPC', 'no space left on the disk'],
  ['EFBIG', 'it would be larger than the disk or a limit allows'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the disk is read-only'],
  ['EBUSY', 'it is in use'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
]);
