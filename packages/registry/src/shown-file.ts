import { isAbsolute, relative } from 'node:path';

/** From `directory` where it lies there, as people write it; else whole. */
export function showFile(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short.replaceAll('\\', '/');
}
