import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { usageError } from './failure.ts';

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

/**
 * What the file tools must not change: the tools folder, when it lies in the workspace.
 *
 * @throws HoldfastError `usage.tools_around_workspace` when it is the workspace or holds it, because then a model could write
 * its own tools.
 */
export async function findProtectedPaths(
  workspace: string,
  toolsFolder: string | undefined,
): Promise<readonly string[]> {
  if (toolsFolder === undefined) return [];
  const path = relative(workspace, await realpath(toolsFolder));
  if (path === '' || /^(?:\.\.[\\/]?)+$/.test(path)) {
    throw usageError(
      'usage.tools_around_workspace',
      'The workspace must not be the tools folder or lie in it, because a run could then write its own tools.',
    );
  }
  return path === '..' || path.startsWith(`..${sep}`) || resolve(path) === path ? [] : [path.split(sep).join('/')];
}

/** `path` as people at `directory` would write it: relative when it lies below, else whole. */
export function shortenPath(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === '' || short.startsWith('..') || resolve(short) === short ? path : short;
}
