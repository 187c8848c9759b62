import { realpathSync } from 'node:fs';

/** The path without symlinks; `undefined` for what is missing, behind a circle of links, or out of reach. */
export function findRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // The system says why; nothing here depends on it.
    return undefined;
  }
}
