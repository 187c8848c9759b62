import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { usageError } from '../terminal/failure.ts';

// Where a workspace says what may not be done in it.
const policyFile = 'holdfast.policy.json';

/** Whether `path` is a folder, also through a link. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Missing, unreachable or not permitted: in any case nothing that can be worked in.
    return false;
  }
}

/** Whether `path` is a file, also through a link. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // As above: nothing that can be read.
    return false;
  }
}

/**
 * The workspace's own path, links resolved.
 *
 * @throws HoldfastError `usage.workspace_missing`.
 */
export async function openWorkspace(name: string, directory: string): Promise<string> {
  const path = resolve(directory, name);
  if (await isFolder(path)) return realpath(path);
  throw usageError('usage.workspace_missing', `The workspace \`${name}\` is no folder that can be opened.`);
}

export interface ForeignCode {
  readonly toolsFolder: string | undefined;
  /** Absolute paths of files and folders that this program imports. */
  readonly imported: readonly string[];
  /** Those of which the same is true of a later run, if they are there then. Default: none. */
  readonly later?: readonly string[];
}

/**
 * What the file tools must not change, as far as it lies in the workspace: the tools folder, what is imported, and what says what a run
 * may do.
 *
 * @throws HoldfastError `usage.tools_around_workspace` when one of them is the workspace or holds it, because then a model could write
 * its own tools.
 */
export async function findProtectedPaths(
  workspace: string,
  { toolsFolder, imported, later = [] }: ForeignCode,
): Promise<readonly string[]> {
  const found = [policyFile];
  for (const path of toolsFolder === undefined ? imported : [toolsFolder, ...imported]) {
    const place = relative(workspace, await findRealPath(path));
    if (place === '' || /^(?:\.\.[\\/]?)+$/.test(place)) {
      const what = path === toolsFolder ? 'the tools folder' : `\`${path}\`, whose code is run,`;
      throw usageError(
        'usage.tools_around_workspace',
        `The workspace must not be ${what} or lie in it, because a run could then write its own tools.`,
      );
    }
    if (isBelow(place)) found.push(place.split(sep).join('/'));
  }
  for (const path of later) {
    const place = relative(workspace, await findRealPath(path));
    if (place !== '' && isBelow(place)) found.push(place.split(sep).join('/'));
  }
  return [...new Set(found)];
}

function isBelow(place: string): boolean {
  return place !== '..' && !place.startsWith(`..${sep}`) && resolve(place) !== place;
}

/** Its real path, or that of the nearest folder that is there with what is left: what is not there yet can be made. */
async function findRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // Missing or unreachable: the folder around it is looked at, and in the end the root, which is always there.
    const around = dirname(path);
    return around === path ? path : join(await findRealPath(around), basename(path));
  }
}

/** `path` as people at `directory` would write it: relative when it lies below, else whole. */
export function shortenPath(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === '' || short.startsWith('..') || resolve(short) === short ? path : short;
}
