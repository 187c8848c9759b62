import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { usageError } from '../terminal/failure.ts';

/** The name of the lock beside the tools folder. */
export const lockName = 'holdfast.lock';
// The workspace's own restrictions.
const policyFiles = ['holdfast.policy.json', 'holdfast.policy.yaml', 'holdfast.policy.yml'];

/** True if `path` is a folder or a link to one. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Missing or unreachable.
    return false;
  }
}

/** True if `path` is a file or a link to one. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // Missing or unreachable.
    return false;
  }
}

/**
 * The real path of the workspace.
 *
 * @throws HoldfastError `usage.invalid` (`workspace_missing`).
 */
export async function openWorkspace(name: string, directory: string): Promise<string> {
  const path = resolve(directory, name);
  if (await isFolder(path)) return realpath(path);
  throw usageError('workspace_missing', `The workspace \`${name}\` is not a folder, or cannot be opened.`);
}

export interface ForeignCode {
  readonly toolsFolder: string | undefined;
  /** Absolute paths of files and folders that this program imports. */
  readonly imported: readonly string[];
  /** Paths that a later run would import, existing or not. Default: none. */
  readonly later?: readonly string[];
}

/**
 * The paths in the workspace that the file tools must not change: the tools folder, imported code, and files that restrict
 * a run.
 *
 * @throws HoldfastError `usage.invalid` (`tools_around_workspace`) if the workspace is one of them or lies inside it, because a model could then
 * write its own tools.
 */
export async function findProtectedPaths(
  workspace: string,
  { toolsFolder, imported, later = [] }: ForeignCode,
): Promise<readonly string[]> {
  const found = [...policyFiles];
  for (const path of toolsFolder === undefined ? imported : [toolsFolder, ...imported]) {
    const place = relative(workspace, await findRealPath(path));
    if (place === '' || /^(?:\.\.[\\/]?)+$/.test(place)) {
      const what = path === toolsFolder ? 'the tools folder' : `\`${path}\`, which contains code that runs,`;
      throw usageError(
        'tools_around_workspace',
        `The workspace must not be ${what} or a folder inside it: a run could then write its own tools.`,
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

/** The real path; for a missing path, that of the nearest existing parent plus the rest, because it may be created later. */
async function findRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // Missing or unreachable: continue with the parent, at last the root.
    const around = dirname(path);
    return around === path ? path : join(await findRealPath(around), basename(path));
  }
}

/** `path` relative to `directory` if inside it, otherwise unchanged. */
export function shortenPath(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === '' || short.startsWith('..') || resolve(short) === short ? path : short;
}
