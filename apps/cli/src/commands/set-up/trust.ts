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
  $ holdfast trust               lists the code that commands find in this folder, and trusts it as it is now
  $ holdfast trust ../project
  $ holdfast trust --remove      asks again from the next command on
  $ holdfast trust --json | jq -r '.files[].path'

Found code is holdfast.config.*, ./plugins, and the plugins, packs and tools folder that the configuration names, with all that these
import by a path; packages count by name and version. What changes later is listed and asked about again. Code that you name
yourself, by --config or --tools, needs no trust. What you trust is kept in your own folder (HOLDFAST_HOME, else
~/.config/holdfast), never in the project.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[dir]', 'the folder', '.')
    .option('--remove', 'trust nothing of the folder any more')
    .option('--json', 'as JSON')
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
 * Trusts what is found in a folder as it is now, in place of what was trusted there before. Nothing of it runs.
 *
 * @throws HoldfastError `usage.folder_missing`, `config.invalid`, `trust.invalid`, `user_folder.*`.
 */
export async function trustFolder({ folder, remove, json }: TrustOptions, host: Host): Promise<ExitCode> {
  const directory = resolve(host.directory, folder);
  if (!(await isFolder(directory))) throw usageError('usage.folder_missing', `There is no folder \`${folder}\`.`);
  const before = await readTrusted(directory, host);
  if (remove) {
    await writeTrusted(directory, nothingTrusted, host);
    if (json) printJson(host, { folder: directory, files: [], packages: [], changes: [] });
    else printLines(host, ['Nothing here is trusted any more.']);
    return 0;
  }
  const config = await findConfigCode(directory);
  const tools = config?.tools ?? (await findDefaultTools(directory));
  const names = [...(config?.names ?? []), ...(tools === undefined ? [] : [nameFolder(tools, directory)])];
  const found = { names, specifiers: config?.specifiers ?? [], tools };
  // Compared with nothing, all of it is listed, also the files behind a lock.
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
    host.stdout.write('There is no code here that a command would find: no holdfast.config.* and no ./plugins.\n');
    return 0;
  }
  const isFirst = before.files.size === 0;
  const count = formatCount(code.files.size, 'file');
  const end = `Trusted: ${names.map(toPrintable).join(', ')} (${count}), until one of them changes.`;
  printLines(host, [...describeChanges(changes, isFirst), end]);
  return 0;
}
