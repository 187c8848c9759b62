import { HoldfastError, type JsonObject } from '@holdfast/core';
import { showPath } from '../paths/paths.ts';

export function isMissing(key: string, cause?: unknown): HoldfastError {
  return fileError('file.missing', key, 'does not exist', cause);
}

export function isDirectory(key: string, cause?: unknown): HoldfastError {
  return fileInvalid('is_directory', key, 'is a folder, not a file', cause);
}

export function isNotDirectory(key: string, cause?: unknown): HoldfastError {
  return fileInvalid('not_directory', key, 'is a file, not a folder', cause);
}

export function isNotEmpty(key: string, cause?: unknown): HoldfastError {
  return fileInvalid('not_empty', key, 'is a folder that is not empty; remove its content first', cause);
}

/** Sizes in bytes. */
export function isTooLarge(key: string, size: number, limit: number): HoldfastError {
  return fileInvalid('too_large', key, `has ${size} bytes; the limit for reading and writing is ${limit}`);
}

export function hasChanged(key: string): HoldfastError {
  return fileError(
    'file.conflict',
    key,
    'was changed by another program or call in the meantime; read it again and repeat',
  );
}

/** `causes`: the errors of the commit and of the undo. */
export function undoFailed(causes: readonly unknown[]): HoldfastError {
  return new HoldfastError(
    'file.undo_failed',
    'A commit failed midway and could not be undone completely. The previous content is in files named `.holdfast-*` and is restored after this process has ended.',
    { cause: new AggregateError(causes) },
  );
}

/** `causes`: the error that led to the cleanup, if any, and those of the cleanup. */
export function cleanupFailed(causes: readonly unknown[]): HoldfastError {
  return new HoldfastError('file.write_failed', 'Cannot remove temporary files named `.holdfast-*`.', {
    data: { reason: 'cleanup' },
    cause: new AggregateError(causes),
  });
}

/** Reasons of `file.invalid`. */
type FileReason =
  | 'is_directory'
  | 'not_directory'
  | 'is_link'
  | 'not_empty'
  | 'binary'
  | 'too_large'
  | 'content'
  | 'range_empty';

/** Reasons of `path.invalid`; none for a path that is badly formed. */
type PathReason = 'escape' | 'protected';

/** The file is not of the kind that the operation needs. */
export function fileInvalid(reason: FileReason, key: string, what: string, cause?: unknown): HoldfastError {
  return fileError('file.invalid', key, what, cause, { reason });
}

export function pathInvalid(reason: PathReason, key: string, what: string, cause?: unknown): HoldfastError {
  return fileError('path.invalid', key, what, cause, { reason });
}

/** An error about one path. The message uses workspace paths, never host paths. */
export function fileError(
  code: string,
  key: string,
  what: string,
  cause?: unknown,
  data: JsonObject = {},
): HoldfastError {
  return new HoldfastError(code, `\`${showPath(key)}\` ${what}.`, { data: { ...data, path: key }, cause });
}

/** A file that could not be recovered after a crash because it was changed in the meantime. */
export interface Conflict {
  readonly key: string;
  /** The path of the bytes meant for `key`; `null` if there are none. */
  readonly kept: string | null;
}

export function recoveryConflict(conflicts: readonly Conflict[]): HoldfastError {
  const kept = conflicts.some((conflict) => conflict.kept !== null);
  return new HoldfastError(
    'file.conflict',
    `Recovery after a crash left these files unchanged, because they were changed in the meantime: ${listConflicts(conflicts)}.${kept ? ' The expected content is in the files in parentheses. Compare, then remove those files.' : ''}`,
    {
      data: {
        reason: 'recovery',
        conflicts: conflicts.map((conflict) => ({ path: conflict.key, kept: conflict.kept })),
      },
    },
  );
}

function listConflicts(conflicts: readonly Conflict[]): string {
  const shown = conflicts
    .slice(0, 5)
    .map(({ key, kept }) => `\`${showPath(key)}\`${kept === null ? '' : ` (\`${showPath(kept)}\`)`}`);
  const more = conflicts.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
