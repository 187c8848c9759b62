import { join } from 'node:path';
import type { Tool } from '@holdfast/core';
import type { Provenance } from '@holdfast/registry';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addFolderOptions } from '../../flags/config.ts';
import { builtInPlugins } from '../../settings/builtin-plugins.ts';
import type { Equipment } from '../../settings/equipment.ts';
import { describeProvenance, type ViewPlace, viewEquipment } from '../../settings/registry-view.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { formatTable } from '../../terminal/table.ts';
import { toPrintable } from '../../terminal/text.ts';
import { formatTree, toTree } from './list-tree.ts';

const help = `
Examples:
  $ holdfast list
  $ holdfast list --tools examples/plugins --json
  $ holdfast list --tools plugins --subfolders    include subfolders
  $ holdfast list --tree                          by plugin, with contributions and origin
  $ holdfast list --json | jq -r '.[] | [.name, .provenance.package, .provenance.version] | @tsv'

A plugin that fails to load is reported on stderr and left out. Exits with 2 if the configuration is invalid or a pack fails to
load.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addFolderOptions(command)
    .option('--tree', 'group by plugin, with everything each contributes')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (flags: ListOptions) => end(await listTools(flags, host)));
}

export interface ListOptions extends ViewPlace {
  /** Groups by plugin. */
  readonly tree?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Prints the tools that a run can call, or the contributions of each plugin. Problems go to stderr. */
export async function listTools({ tree, json, ...place }: ListOptions, host: Host): Promise<ExitCode> {
  return await viewEquipment(place, host, (equipment) => {
    const style = describeStyle(host);
    if (tree) {
      const shown = toTree(equipment);
      if (json) printJson(host, shown);
      else printLines(host, formatTree(shown, style));
      return 0;
    }
    const rows = listRows(equipment);
    if (json) {
      printJson(host, rows);
      return 0;
    }
    const { colors } = style;
    const asking = rows.some(({ environment }) => environment.length > 0);
    const head = [
      { title: 'tool', paint: colors.bold },
      { title: 'owner' },
      { title: 'origin' },
      { title: 'effects' },
      { title: 'gate', paint: colors.red },
      ...(asking ? [{ title: 'environment' }] : []),
      { title: 'description' },
    ];
    const cells = rows.map(({ name, plugin, origin, effects, dangerous, undeclared, environment, description }) => {
      const variables = asking ? [environment.join(' ')] : [];
      const gate = undeclared === true ? 'undeclared' : 'dangerous';
      return [name, plugin, origin, effects, dangerous ? gate : '', ...variables, description];
    });
    const { folder } = equipment.toolset;
    const missing = `Tools folder \`${toPrintable(folder.name)}\` does not exist; use \`--tools DIR\` for another one.`;
    printLines(host, [...formatTable(head, cells, style), ...(folder.path === undefined ? ['', missing] : [])]);
    return 0;
  });
}

interface Row {
  readonly name: string;
  /** The owner. */
  readonly plugin: string;
  readonly origin: string;
  readonly effects: Tool['effects'];
  readonly repeat: Tool['repeat'];
  readonly dangerous: boolean;
  /** Environment variables declared by the tool. */
  readonly environment: readonly string[];
  /** Needs approval because it declares neither `dangerous` nor `effects`. */
  readonly undeclared?: true;
  readonly description: string;
  readonly provenance: Provenance;
}

/** Lists built-in tools last. */
function listRows({ registry, toolset }: Equipment): readonly Row[] {
  const rows = registry.tools.flatMap((tool): readonly Row[] => {
    const { name, origin, effects, repeat, dangerous, environment = [], description } = tool;
    const undeclared = dangerous && tool.undeclared === true ? { undeclared: true as const } : {};
    const explained = registry.explain(name).find((one) => one.kind === 'tool' && one.inForce && one.name === name);
    if (explained === undefined) return [];
    const { provenance } = explained;
    const { plugin } = provenance;
    const place =
      plugin === builtInPlugins.files
        ? 'built in'
        : plugin === builtInPlugins.folder
          ? join(toolset.folder.name, origin?.source ?? '')
          : describeProvenance(provenance);
    const declared = { effects, repeat, dangerous, ...undeclared, environment };
    return [{ name, plugin, origin: place, ...declared, description, provenance }];
  });
  const isBuiltIn = ({ plugin }: Row): boolean => plugin === builtInPlugins.files;
  return [...rows.filter((row) => !isBuiltIn(row)), ...rows.filter(isBuiltIn)];
}
