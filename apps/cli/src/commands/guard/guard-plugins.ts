import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findHook } from '../../guard/copy.ts';
import { writeText } from '../../guard/files.ts';
import { makePlugins, placeIn, plugins } from '../../plugins/make.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printLines } from '../../terminal/print.ts';
import { hasCode } from '../../terminal/system.ts';

/**
 * Writes the plugins of all agents into a new or empty folder.
 *
 * @throws HoldfastError `usage.invalid` (`file_exists`), `settings.invalid`.
 */
export async function writePlugins(folder: string, host: Host): Promise<ExitCode> {
  const path = resolve(host.directory, folder);
  if ((await list(path)).length > 0)
    throw usageError('file_exists', `\`${folder}\` is not an empty folder: give a new or empty one.`);
  for (const [name, text] of makePlugins(await findHook(host))) await writeText(placeIn(path, name), text);
  printLines(host, [
    `Written: ${path}`,
    ...Object.entries(plugins).map(([agent, { installs }]) => `  ${agent}: ${installs.replaceAll('FOLDER', path)}`),
  ]);
  return 0;
}

async function list(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return [];
    if (hasCode(thrown, 'ENOTDIR')) return [path];
    throw thrown;
  }
}
