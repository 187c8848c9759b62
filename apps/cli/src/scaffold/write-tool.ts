import { mkdir, open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findToolNameProblem } from '@holdfast/core/internal';
import { foldName } from '@holdfast/registry/internal';
import { type ExitCode, usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toJsonText } from '../terminal/json.ts';
import { toPrintable } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import { isFolder } from '../workspace/folder.ts';
import { findLock, openFolderTools, type ToolsFolder, toLockOptions } from '../workspace/toolset.ts';
import { languageEndings, type ToolLanguage, toToolText } from './tool.ts';

export interface NewToolOptions {
  readonly name: string;
  /** Created if missing. */
  readonly folder: string;
  readonly language: ToolLanguage;
  readonly json: boolean;
}

/**
 * Writes a new tool file; never overwrites an existing one.
 *
 * @throws HoldfastError `usage.invalid` (`name_invalid`, `name_taken`, `file_exists`), `output.unwritable`.
 */
export async function writeNewTool({ name, folder, language, json }: NewToolOptions, host: Host): Promise<ExitCode> {
  const problem = findToolNameProblem(name);
  if (problem !== undefined) throw usageError('name_invalid', problem.message);
  const path = resolve(host.directory, folder);
  // A file whose name begins with `_` is not a tool file.
  const fileName = `${name.replace(/^_+/, '') || 'tool'}${languageEndings[language]}`;
  await checkTaken(name, { name: folder, path }, fileName);
  const file = join(folder, fileName);
  await writeFile(file, toToolText(name, language), { folder: path, path: resolve(host.directory, file) });
  if (json) {
    host.stdout.write(`${toJsonText({ name, file, language }, 2)}\n`);
    return 0;
  }
  const command = (words: readonly [string, string], ...options: readonly string[]): string =>
    toCommand({ words, options, workspace: host.directory }, host);
  host.stdout.write(
    [
      `wrote ${toPrintable(file)}; edit it, then run`,
      `  ${command(['try', file])}`,
      `  ${command(['check', folder], '--strict')}`,
      // With a lock, the tool is not used until it is locked.
      ...((await findLock(path)) === undefined ? [] : [`  ${toLockCommand({ name: folder, path }, name, host)}`]),
      '',
    ].join('\n'),
  );
  return 0;
}

function toLockCommand(folder: ToolsFolder, name: string, { command }: Host): string {
  return `${command} lock${toLockOptions(folder, false)} --accept ${name}`;
}

/** Checks the name against the tools that `check` sees: of two easily confused names, one would be left out. */
async function checkTaken(
  name: string,
  folder: { readonly name: string; readonly path: string },
  file: string,
): Promise<void> {
  const there = (await isFolder(folder.path)) ? folder : { name: folder.name, path: undefined };
  const toolset = await openFolderTools(there, { lock: 'ignore' });
  await toolset.close();
  const twin = [...toolset.fileTools, ...toolset.folderTools].find((tool) => foldName(tool.name) === foldName(name));
  // The existing file has a plainer error.
  if (twin === undefined || twin.origin?.source === file) return;
  throw usageError(
    'name_taken',
    `\`${name}\` is too similar to \`${twin.name}\`${twin.origin === undefined ? ', a built-in tool' : ` in ${twin.origin.source}`}: choose another name.`,
  );
}

async function writeFile(
  file: string,
  text: string,
  { folder, path }: { readonly folder: string; readonly path: string },
): Promise<void> {
  let isOurs = false;
  try {
    await mkdir(folder, { recursive: true });
    // Neither over a file nor through a dangling link.
    await using handle = await open(path, 'wx');
    isOurs = true;
    await handle.writeFile(text);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    if (!isOurs && code === 'EEXIST' && (await isFolder(folder)))
      throw usageError('file_exists', `\`${file}\` already exists: nothing was written.`);
    // Removes an incomplete file.
    if (isOurs) await rm(path, { force: true });
    throw new HoldfastError('output.unwritable', `Cannot write \`${file}\` (${code}).`, {
      data: { reason: 'tool_file', file },
      cause,
    });
  }
}
