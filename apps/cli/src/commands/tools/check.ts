import { followImports } from '@holdfast/loader/internal';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { subfoldersText } from '../../flags/values.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { languages } from '../../workspace/languages.ts';
import { openFolderTools, requireToolsFolder } from '../../workspace/toolset.ts';
import { countErrors, describeCheck, formatCheck } from './check-view.ts';
import { watchFolder } from './check-watch.ts';

const help = `
Examples:
  $ holdfast check plugins
  $ holdfast check plugins --strict     treat warnings as errors
  $ holdfast check plugins --subfolders include subfolders
  $ holdfast check plugins --watch      check again after every change, until Ctrl-C
  $ holdfast check plugins --json

Runs no code of tool files. Exits with 1 if a file is invalid; --watch exits with 0 on Ctrl-C.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[dir]', 'folder of tool files (default: ./plugins)')
    .option('--strict', 'treat warnings as errors')
    .option('--subfolders', subfoldersText)
    .option('--watch', 'check again after every change, until Ctrl-C')
    .option('--json', 'print JSON; with --watch, one line per check')
    .addHelpText('after', help)
    .action(async (folder: string | undefined, { watch = false, ...flags }: CheckOptions & { watch?: boolean }) =>
      end(await (watch ? watchFolder : checkFolder)({ ...flags, folder }, host)),
    );
}

export interface CheckOptions {
  /** Default: `./plugins`. */
  readonly folder?: string | undefined;
  /** Treats warnings as errors. */
  readonly strict?: boolean;
  /** Reads subfolders, too. */
  readonly subfolders?: boolean;
  readonly json?: boolean;
}

/** Checks a tools folder without running anything in it. Returns 1 if a file is invalid. */
export async function checkFolder(options: CheckOptions, host: Host): Promise<ExitCode> {
  const { folder, strict = false, subfolders = false, json = false } = options;
  const found = await requireToolsFolder(folder, host.directory);
  const { folderTools, diagnostics, files } = await openFolderTools(found, {
    strict,
    subfolders,
    // Checks the file itself, regardless of the lock.
    lock: 'ignore',
  });
  const followed = await followImports(found.path, { files, diagnostics }, { strict, languages });
  const good = new Set(followed.files.flatMap(({ type, file }) => (type === 'tool' ? [file] : [])));
  const tools = folderTools.filter(({ origin }) => good.has(origin?.source ?? ''));
  const checked = { tools, diagnostics: followed.diagnostics };
  if (json) printJson(host, describeCheck(checked));
  else printLines(host, formatCheck(checked, { folder: found.name, subfolders, ...describeStyle(host) }));
  return countErrors(checked) === 0 ? 0 : 1;
}
