import { realpathSync } from 'node:fs';

/** The path without symlinks; `undefined` if missing, circular or inaccessible. */
export function findRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // The reason does not matter here.
    return undefined;
  }
}
