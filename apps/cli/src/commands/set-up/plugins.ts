import { findInstalledPlugins, type InstalledPlugin } from '@holdfast/registry/node';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addFolderOptions } from '../../flags/config.ts';
import type { Equipment } from '../../settings/equipment.ts';
import { type ViewPlace, viewEquipment } from '../../settings/registry-view.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { formatTable } from '../../terminal/table.ts';

const help = `
Examples:
  $ holdfast plugins                      installed packages that declare themselves, and their state
  $ holdfast plugins --json | jq -r '.[] | select(.state == "not named").package'

A package declares itself with "holdfast": "plugin" or "pack" in its package.json. Nothing from node_modules is used unless
holdfast.config.ts names it. Exits with 1 if a named plugin or pack is not in force.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addFolderOptions(command)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (flags: PluginsOptions) => end(await listPlugins(flags, host)));
}

export interface PluginsOptions extends ViewPlace {
  readonly json?: boolean | undefined;
}

interface Row {
  /** The package name, or the configuration's entry if it is not an installed package. */
  readonly package: string;
  readonly version: string;
  readonly kind: 'plugin' | 'pack';
  /** `not named`: installed but not configured. */
  readonly state: 'in force' | 'left out' | 'not named';
  /** Plugin names and pack ids under which it is in force. */
  readonly as: readonly string[];
  readonly description: string;
  /** Why it was left out. */
  readonly problem?: string;
}

/** Prints installed and configured plugins and packs. Returns 1 if a configured one is not in force. */
export async function listPlugins({ json, ...place }: PluginsOptions, host: Host): Promise<ExitCode> {
  return await viewEquipment(place, host, async (equipment) => {
    const installed = await findInstalledPlugins(host.directory);
    const rows = toRows(installed, equipment);
    if (json) {
      printJson(host, rows);
    } else if (rows.length === 0) {
      host.stdout.write('No plugins or packs are installed or configured.\n');
    } else {
      const style = describeStyle(host);
      const { colors } = style;
      const paints = { 'in force': colors.green, 'left out': colors.red, 'not named': colors.dim };
      const head = [
        { title: 'package', paint: colors.bold },
        { title: 'version' },
        { title: 'kind' },
        { title: 'state', paint: (text: string) => (isState(text) ? paints[text](text) : text) },
        { title: 'as' },
        { title: 'description' },
      ];
      const cells = rows.map(({ package: name, version, kind, state, as, problem, description }) => {
        return [name, version, kind, state, as.join(', '), problem ?? description];
      });
      printLines(host, formatTable(head, cells, style));
    }
    return rows.some(({ state }) => state === 'left out') ? 1 : 0;
  });
}

function isState(text: string): text is Row['state'] {
  return text === 'in force' || text === 'left out' || text === 'not named';
}

function toRows(installed: readonly InstalledPlugin[], { used, leftOut, registry }: Equipment): readonly Row[] {
  const uses = [
    ...used.plugins.map(({ name, version, source, entry }) => {
      const { description = '' } = registry.plugins.find((plugin) => plugin.name === name) ?? {};
      return { kind: 'plugin' as const, as: name, version, source, entry, description };
    }),
    ...used.packs.map(({ id, version, source, entry }) => {
      const { pack } = registry.packsInForce.find((one) => one.id === id) ?? {};
      return { kind: 'pack' as const, as: id, version, source, entry, description: pack?.description ?? '' };
    }),
  ];
  const failed = new Map(leftOut.map(({ plugin, message }) => [toPackageName(plugin), message]));
  const known = new Set(installed.map(({ name }) => name));
  const rows = installed.map(({ name, version, kind, description }): Row => {
    const as = uses.filter(({ source }) => source.package === name).map((use) => use.as);
    const problem = as.length > 0 ? undefined : failed.get(name);
    const state = as.length > 0 ? 'in force' : problem === undefined ? 'not named' : 'left out';
    return { package: name, version, kind, state, as, description, ...(problem === undefined ? {} : { problem }) };
  });
  const others = uses
    .filter(({ source }) => source.package === undefined || !known.has(source.package))
    .map(({ kind, as, version, source, entry, description }): Row => {
      return { package: source.package ?? entry, version, kind, state: 'in force', as: [as], description };
    });
  const missing = leftOut
    .filter(({ plugin }) => !known.has(toPackageName(plugin)))
    .map(({ plugin, message: problem }): Row => {
      return { package: plugin, version: '', kind: 'plugin', state: 'left out', as: [], description: '', problem };
    });
  return [...rows, ...others, ...missing];
}

/** Strips the export name. */
function toPackageName(entry: string): string {
  return entry.split('#', 1)[0] ?? entry;
}
