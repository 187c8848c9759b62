import { HoldfastError } from '@holdfast/core';
import { showPath } from '../paths/paths.ts';

export function isMissing(key: string, cause?: unknown): HoldfastError {
  return fileError('file.missing', key, 'does not exist', cause);
}

export function isDirectory(key: string, cause?: unknown): HoldfastError {
  return fileError('file.is_directory', key, 'is a folder, not a file', cause);
}

export function isNotDirectory(key: string, cause?: unknown): HoldfastError {
  return fileError('file.not_directory', key, 'is a file, not a folder', cause);
}

export function isNotEmpty(key: string, cause?: unknown): HoldfastError {
  return fileError('file.not_empty', key, 'is a folder that is not empty; remove what is in it first', cause);
}

/** Sizes in bytes. */
export function isTooLarge(key: string, size: number, limit: number): HoldfastError {
  return fileError(
    'file.too_large',
    key,
    `has ${size} bytes; files of more than ${limit} are neither read nor written`,
  );
}

export function hasChanged(key: string): HoldfastError {
  return fileError('file.conflict', key, 'was changed by somebody else during the call; read it again and repeat');
}

/** `causes`: why the commit failed, and why what it had done could not be taken back. */
export function undoFailed(causes: readonly unknown[]): HoldfastError {
  return new HoldfastError(
    'file.undo_failed',
    'A commit failed midway and could not be undone in full. What was there before is kept in files named `.holdfast-*`, and is put right once this process has ended.',
    { cause: new AggregateError(causes) },
  );
}

/** `causes`: why something was taken back or put in order, if there was a reason, and why not in full. */
export function cleanupFailed(causes: readonly unknown[]): HoldfastError {
  return new HoldfastError('file.cleanup_failed', 'Temporary files named `.holdfast-*` could not be removed.', {
    cause: new AggregateError(causes),
  });
}

/** An error about one path. The message names it as the workspace does, never as the host does. */
export function fileError(code: string, key: string, reason: string, cause?: unknown): HoldfastError {
  return new HoldfastError(code, `\`${showPath(key)}\` ${reason}.`, { data: { path: key }, cause });
}

/** What could not be put right after a crash, because somebody else had changed it. */
export interface Conflict {
  readonly key: string;
  /** Where the bytes are kept that did not get to `key`; `null` when there are none. */
  readonly kept: string | null;
}

export function recoveryConflict(conflicts: readonly Conflict[]): HoldfastError {
  const kept = conflicts.some((conflict) => conflict.kept !== null);
  return new HoldfastError(
    'file.recovery_conflict',
    `After a crash, files could not be completed or put back, because somebody else had changed them; they stay as they are: ${listConflicts(conflicts)}.${kept ? ' What belongs there is kept in the files named in parentheses: compare, and remove those.' : ''}`,
    { data: { conflicts: conflicts.map((conflict) => ({ path: conflict.key, kept: conflict.kept })) } },
  );
}

function listConflicts(conflicts: readonly Conflict[]): string {
  const shown = conflicts
    .slice(0, 5)
    .map(({ key, kept }) => `\`${showPath(key)}\`${kept === null ? '' : ` (\`${showPath(kept)}\`)`}`);
  const more = conflicts.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
