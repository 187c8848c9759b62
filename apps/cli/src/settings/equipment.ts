import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HoldfastError, nearestNames, type Policy, type Section, type Slice } from '@holdfast/core';
import { formatDiagnostic, readDefinitionLock } from '@holdfast/loader';
import { configPolicies, type Registry, type RegistryProblem, type UnknownToolName } from '@holdfast/registry';
import { type OpenedRegistry, openRegistry, type RegistryDiagnostic } from '@holdfast/registry/node';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable, toPrintableBlock } from '../terminal/text.ts';
import { importForeign } from '../trust/import-foreign.ts';
import { describeLeftOut } from '../trust/trust.ts';
import { isFile } from '../workspace/folder.ts';
import { type FolderTools, type LockUse, lockName, openFolderTools, type ToolsFolder } from '../workspace/toolset.ts';
import { filesPlugin, folderPlugin } from './builtin-plugins.ts';
import { type EnvironmentConsent, reportUnused } from './environment-consent.ts';
import { createPluginKeeper, type PluginKeeper } from './plugin-keeper.ts';
import type { Settings } from './settings.ts';

/** What a run works with beside model and files: what this program, the tools folder and the configuration bring along. */
export interface Equipment {
  readonly settings: Settings;
  readonly toolset: FolderTools;
  readonly registry: Registry;
  /** Packs in force, what guards the plugins' own tools, allowed and denied tools. */
  readonly policies: readonly Policy[];
  readonly used: OpenedRegistry['used'];
  /** Plugins that were left out. */
  readonly leftOut: readonly RegistryDiagnostic[];
  /** What else is odd: a winner that decides nothing, say. */
  readonly oddities: readonly RegistryProblem[];
  /** Names in lists of the configuration that no tool has. */
  readonly unknownNames: readonly UnknownToolName[];
  /** Absolute paths of what was imported, or would be if it were there: files, and folders of packages. */
  readonly imported: readonly string[];
  /** What plugins and packs declare, beside what is locked of them. */
  readonly keeper: PluginKeeper;
  /** What tool files were granted of the environment; `undefined`: nothing. */
  readonly environment: EnvironmentConsent | undefined;
  /** Ends the processes in which tools run. */
  close(): Promise<void>;
}

export interface EquipmentOptions {
  /**
   * What a lock is for: nothing, to be kept to where it says anything of them, or to say it. Default for both: `require` where the settings
   * ask for a lock, else `use`.
   */
  readonly lock?: { readonly tools?: LockUse; readonly plugins?: LockUse };
  /** Default: as the settings say. */
  readonly subfolders?: boolean;
  /** Default: no tool file is granted anything of the environment. */
  readonly environment?: EnvironmentConsent;
}

/**
 * Opens what a run is given. A plugin that cannot be used is left out; a pack that cannot throws: nothing is to run unguarded.
 *
 * @throws HoldfastError `usage.lock_missing`, `tools.lock.*`, `registry.*`, `plugin.*`, `pack.*`, `config.policy.invalid`.
 */
export async function openEquipment(
  settings: Settings,
  folder: ToolsFolder,
  { lock = {}, subfolders = settings.effective.subfolders.value, environment }: EquipmentOptions,
  host: Host,
): Promise<Equipment> {
  const { effective, directory } = settings;
  const print = (text: string): void => void host.stderr.write(toPrintableBlock(text));
  // What was not asked for is as the loader has it, so that its own default counts.
  const isolation = effective.isolation.origin.layer === 'default' ? {} : { isolation: effective.isolation.value };
  const hasPlugins = effective.plugins.length + effective.packs.length > 0;
  const byDefault = effective.locked.value ? 'require' : 'use';
  const { tools: forTools = byDefault, plugins: forPlugins = byDefault } = lock;
  const lockPath = hasPlugins ? await findPluginLock(folder, settings) : undefined;
  // Where there is no folder, a lock can still be about plugins.
  const isAboutPlugins = folder.path === undefined && lockPath !== undefined && (await isFile(lockPath));
  const toolset = await openFolderTools(folder, {
    subfolders,
    lock: forTools === 'require' && isAboutPlugins ? 'use' : forTools,
    ...isolation,
    print,
    environment: environment?.grant,
  });
  const keeper = createPluginKeeper({
    lock: forPlugins === 'ignore' ? undefined : lockPath,
    required: forPlugins === 'require',
    load: {
      ...isolation,
      processes: { print },
      ...(environment === undefined ? {} : { environment: environment.grant }),
    },
    report: (diagnostic, plugin) => print(`${formatDiagnostic(diagnostic, { folder: plugin })}\n`),
  });
  const close = async (): Promise<void> => {
    await Promise.all([toolset.close(), keeper.close()]);
  };
  try {
    const { answer, imported } = await importForeign(host, () =>
      openRegistry(effective, {
        directory,
        builtIn: [{ plugin: filesPlugin(toolset.fileTools) }, { plugin: folderPlugin(toolset.folderTools) }],
        prepareImport: keeper.prepareImport,
        preparePlugin: keeper.preparePlugin,
        preparePack: keeper.preparePack,
      }),
    );
    const { registry, diagnostics, used, paths } = answer;
    const lists = configPolicies(effective, listToolNames(registry));
    return {
      settings,
      toolset,
      registry,
      policies: [...registry.policies, ...lists.policies],
      used,
      leftOut: [...diagnostics, ...listLeftOut(registry)],
      oddities: registry.problems.filter((problem) => registry.plugins.every((plugin) => plugin.problem !== problem)),
      unknownNames: lists.unknown,
      imported: [...paths, ...settings.imported, ...imported, ...keeper.folders],
      keeper,
      environment,
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** What could be imported, and not used. It is named by its package, as the configuration does it. */
function listLeftOut({ plugins }: Registry): readonly RegistryDiagnostic[] {
  return plugins.flatMap(({ name, problem, provenance }) =>
    problem === undefined ? [] : [{ ...problem, plugin: provenance.package ?? name }],
  );
}

/**
 * The lock that is about plugins and packs: the one beside the configuration, unless only one beside the tools folder says anything of
 * them.
 *
 * @throws HoldfastError `plugin.lock.ambiguous`, and as `compareDefinitions` for a lock.
 */
export async function findPluginLock({ path }: ToolsFolder, { file, directory }: Settings): Promise<string> {
  const own = join(await realpath(dirname(resolve(directory, file ?? lockName))), lockName);
  const beside = path === undefined ? own : join(dirname(await realpath(path)), lockName);
  if (beside === own || !saysOfPlugins(beside)) return own;
  if (!saysOfPlugins(own)) return beside;
  throw new HoldfastError(
    'plugin.lock.ambiguous',
    `Two locks are about plugins and packs, \`${own}\` beside the configuration and \`${beside}\` beside the tools folder, and nothing says which one counts: take \`plugins\` out of one of them.`,
    { data: { locks: [own, beside] } },
  );
}

function saysOfPlugins(lock: string): boolean {
  return readDefinitionLock(lock).found;
}

/** Says on stderr what was left out, and why. */
export function reportProblems(equipment: Equipment, host: Host): void {
  const { settings, toolset, leftOut, oddities, unknownNames, environment } = equipment;
  reportUnused(environment, host);
  if (settings.untrusted.length > 0) host.stderr.write(describeLeftOut(settings.untrusted));
  if (toolset.lockGone !== undefined) host.stderr.write(`warning: ${toolset.lockGone} (tools.lock.missing)\n`);
  for (const diagnostic of toolset.diagnostics)
    host.stderr.write(`${formatDiagnostic(diagnostic, { folder: toolset.folder.name })}\n`);
  for (const { message, code } of leftOut) host.stderr.write(`left out: ${toPrintable(message)} (${code})\n`);
  for (const { message, code } of oddities) host.stderr.write(`warning: ${toPrintable(message)} (${code})\n`);
  for (const { key, name, origin } of unknownNames) {
    const place = origin.file ?? origin.layer;
    host.stderr.write(
      `warning: \`${key}\` of ${toPrintable(place)} names \`${toPrintable(name)}\`, which is no tool here\n`,
    );
  }
}

/**
 * Makes sure that a host's lists of tools mean what they say: a misspelt name would deny nothing. What a workspace lists may be there
 * elsewhere, and where a plugin was left out, its names are not known.
 *
 * @throws HoldfastError `usage.tool_unknown`.
 */
export function checkListedNames({ leftOut, unknownNames, registry: { tools } }: Equipment): void {
  const misspelt = unknownNames.find(({ origin }) => origin.layer !== 'workspace');
  if (misspelt === undefined || leftOut.length > 0) return;
  const { key, name, origin } = misspelt;
  const names = tools.map((tool) => tool.name);
  throw usageError(
    'usage.tool_unknown',
    `\`${key}\` of ${origin.file ?? origin.layer} names \`${name}\`, which is no tool of this run.${describeNearest(name, names)} There are: ${names.join(', ')}.`,
  );
}

/** A sentence for a name that somebody may have meant; empty when there is none. */
export function describeNearest(name: string, names: readonly string[]): string {
  const [nearest] = nearestNames(name, names);
  return nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`;
}

/** Slices of plugins, and of their sections. */
export function listSlices({ slices, sections }: Registry): readonly Slice[] {
  return [...new Set([...slices, ...sections.flatMap(slicesOf)])];
}

function slicesOf({ slices, children }: Section): readonly Slice[] {
  return [...slices, ...children.flatMap(slicesOf)];
}

/** Those of the registry, and those that a prompt has of its own where a section of it can be opened. */
function listToolNames({ tools, sections }: Registry): readonly string[] {
  const names = tools.map(({ name }) => name);
  return sections.some(hasSummary) ? [...names, 'open_sections', 'read_section'] : names;
}

function hasSummary({ summary, children }: Section): boolean {
  return summary !== undefined || children.some(hasSummary);
}
