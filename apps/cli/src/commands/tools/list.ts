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
  $ holdfast list --tools plugins --subfolders    also the folders in it
  $ holdfast list --tree                          by plugin: what each brings along, and where it came from
  $ holdfast list --json | jq -r '.[] | [.name, .provenance.package, .provenance.version] | @tsv'

A plugin that cannot be used is told on standard error, and the others are listed. Exits with 2 when the configuration is wrong, or a
pack cannot be put in force.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addFolderOptions(command)
    .option('--tree', 'by plugin: what each brings along')
    .option('--json', 'as JSON')
    .addHelpText('after', help)
    .action(async (flags: ListOptions) => end(await listTools(flags, host)));
}

export interface ListOptions extends ViewPlace {
  /** By plugin. */
  readonly tree?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Prints the tools that a run is offered, or what each plugin brings along; what is left out is told on stderr. */
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
    const missing = `There is no tools folder \`${toPrintable(folder.name)}\`; \`--tools DIR\` names another.`;
    printLines(host, [...formatTable(head, cells, style), ...(folder.path === undefined ? ['', missing] : [])]);
    return 0;
  });
}

interface Row {
  readonly name: string;
  /** Its owner. */
  readonly plugin: string;
  readonly origin: string;
  readonly effects: Tool['effects'];
  readonly repeat: Tool['repeat'];
  readonly dangerous: boolean;
  /** Environment variables that the tool declares. */
  readonly environment: readonly string[];
  /** It is asked about because it says neither `dangerous` nor `effects`. */
  readonly undeclared?: true;
  readonly description: string;
  readonly provenance: Provenance;
}

/** Those that somebody has added come first. */
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
