import { dirname, resolve } from 'node:path';
import type { ConfigOrigin } from './config.ts';

/** The folder in which relative paths of an origin begin, and from which its packages are found. `directory`: the current one. */
export function folderOf({ file }: ConfigOrigin, directory: string): string {
  return file === undefined ? directory : dirname(resolve(directory, file));
}
