import { resolve } from 'node:path';
import { formatCount } from '@holdfast/orchestrator/text';
import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { compareCode, findConfigCode, findDefaultTools, nameFolder } from '../../trust/found-code.ts';
import { nothingTrusted, readTrusted, writeTrusted } from '../../trust/store.ts';
import { describeChanges } from '../../trust/trust.ts';
import { isFolder } from '../../workspace/folder.ts';

const help = `
Examples:
  $ holdfast trust               list the code found in this folder and trust it in its current state
  $ holdfast trust ../project
  $ holdfast trust --remove      ask again from the next command on
  $ holdfast trust --json | jq -r '.files[].path'

Found code is holdfast.config.*, ./plugins, and the plugins, packs and tools folder that the configuration names, including everything
they import by path; packages count by name and version. Later changes are listed and need trust again. Code named on the command line
with --config or --tools needs no trust. Your answers are stored in your user folder (HOLDFAST_HOME, default
~/.config/holdfast), never in the project.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[dir]', 'folder to trust', '.')
    .option('--remove', 'revoke trust in the folder')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (folder: string, flags: Omit<TrustOptions, 'folder'>) =>
      end(await trustFolder({ folder, ...flags }, host)),
    );
}

export interface TrustOptions {
  readonly folder: string;
  readonly remove?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Trusts the code found in a folder in its current state, replacing earlier trust. Runs none of it.
 *
 * @throws HoldfastError `usage.invalid` (`folder_missing`), `config.invalid`, `user_config.invalid`, `user_folder.*`.
 */
export async function trustFolder({ folder, remove, json }: TrustOptions, host: Host): Promise<ExitCode> {
  const directory = resolve(host.directory, folder);
  if (!(await isFolder(directory))) throw usageError('folder_missing', `Folder \`${folder}\` does not exist.`);
  const before = await readTrusted(directory, host);
  if (remove) {
    await writeTrusted(directory, nothingTrusted, host);
    if (json) printJson(host, { folder: directory, files: [], packages: [], changes: [] });
    else printLines(host, ['This folder is no longer trusted.']);
    return 0;
  }
  const config = await findConfigCode(directory);
  const tools = config?.tools ?? (await findDefaultTools(directory));
  const names = [...(config?.names ?? []), ...(tools === undefined ? [] : [nameFolder(tools, directory)])];
  const found = { names, specifiers: config?.specifiers ?? [], tools };
  // Comparing with nothing lists all of it, including files covered by a lock.
  const { code } = await compareCode(found, directory, nothingTrusted);
  const { changes } = await compareCode(found, directory, before);
  if (names.length > 0 || before.files.size > 0) await writeTrusted(directory, { ...code, named: before.named }, host);
  if (json) {
    const files = [...code.files].map(([path, digest]) => ({ path, digest }));
    const packages = [...code.packages].map(([name, version]) => ({ name, version }));
    printJson(host, { folder: directory, files, packages, changes });
    return 0;
  }
  if (names.length === 0) {
    host.stdout.write('Nothing to trust: no holdfast.config.* and no ./plugins in this folder.\n');
    return 0;
  }
  const isFirst = before.files.size === 0;
  const count = formatCount(code.files.size, 'file');
  const end = `Trusted: ${names.map(toPrintable).join(', ')} (${count}), until it changes.`;
  printLines(host, [...describeChanges(changes, isFirst), end]);
  return 0;
}
