import type { Tool } from '@holdfast/core';
import { type Diagnostic, followImports, formatDiagnostic } from '@holdfast/loader';
import type { Command } from 'commander';
import { describeStyle, formatCount, type LineStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { subfoldersText } from '../../flags/values.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { languages } from '../../workspace/languages.ts';
import { openToolset, requireToolsFolder, toolFileEndings } from '../../workspace/toolset.ts';

const help = `
Examples:
  $ holdfast check plugins
  $ holdfast check plugins --strict     warnings are errors
  $ holdfast check plugins --subfolders also the folders in it
  $ holdfast check plugins --json

No line of a tool file runs. Exits with 1 when a file is refused.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[dir]', 'folder of tool files (default: ./plugins)')
    .option('--strict', 'treat warnings as errors')
    .option('--subfolders', subfoldersText)
    .option('--json', 'as JSON')
    .addHelpText('after', help)
    .action(async (folder: string | undefined, flags: CheckOptions) =>
      end(await checkFolder({ ...flags, folder }, host)),
    );
}

export interface CheckOptions {
  /** Absent: the default folder. */
  readonly folder?: string | undefined;
  /** Treats warnings as errors. */
  readonly strict?: boolean;
  /** Reads the folders in the folder, too. */
  readonly subfolders?: boolean;
  readonly json?: boolean;
}

/** Checks a tools folder without running anything in it; 1 when a file is refused. */
export async function checkFolder(options: CheckOptions, host: Host): Promise<ExitCode> {
  const { folder, strict = false, subfolders = false, json } = options;
  const found = await requireToolsFolder(folder, host.directory);
  const { folderTools, diagnostics, files } = await openToolset(found, {
    strict,
    subfolders,
    // What a file is worth, not whether it is the one that was locked.
    lock: 'ignore',
  });
  const followed = await followImports(found.path, { files, diagnostics }, { strict, languages });
  const good = new Set(followed.files.flatMap(({ type, file }) => (type === 'tool' ? [file] : [])));
  const tools = folderTools.filter(({ origin }) => good.has(origin?.source ?? ''));
  const checked = { tools, diagnostics: followed.diagnostics };
  const errors = checked.diagnostics.filter(({ severity }) => severity === 'error').length;
  if (json) {
    const shown = tools.map(({ name, origin }) => ({ name, file: origin?.source ?? null }));
    printJson(host, { tools: shown, diagnostics: checked.diagnostics });
  } else {
    printLines(host, describe(checked, { errors, folder: found.name, subfolders }, describeStyle(host)));
  }
  return errors === 0 ? 0 : 1;
}

interface Checked {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
}

interface CheckedPlace {
  readonly errors: number;
  /** The folder as it was named. */
  readonly folder: string;
  readonly subfolders: boolean;
}

/** Every diagnostic, and how many there are of what. */
function describe(
  { tools, diagnostics }: Checked,
  { errors, folder, subfolders }: CheckedPlace,
  { colors }: LineStyle,
): readonly string[] {
  if (tools.length === 0 && diagnostics.length === 0) {
    const where = subfolders ? '' : ' and lies directly in the folder; --subfolders also reads the folders in it';
    return [`No tool files in ${toPrintable(folder)}: a tool file ends in ${toolFileEndings}${where}.`];
  }
  const counts = [
    formatCount(tools.length, 'good tool'),
    formatCount(errors, 'error'),
    formatCount(diagnostics.length - errors, 'warning'),
  ].join(', ');
  const lines = diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, { folder }));
  return [...lines, ...(lines.length > 0 ? [''] : []), (errors === 0 ? colors.green : colors.red)(counts)];
}
