import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HoldfastError, type Policy, type Section, type Slice } from '@holdfast/core';
import { describeCode, nearestNames } from '@holdfast/core/internal';
import { formatDiagnostic } from '@holdfast/loader';
import { readDefinitionLock } from '@holdfast/loader/plugins';
import type { Registry, RegistryProblem } from '@holdfast/registry';
import { configPolicies, type UnknownToolName } from '@holdfast/registry/config';
import { type OpenedRegistry, openRegistry, type RegistryDiagnostic } from '@holdfast/registry/node';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable, toPrintableBlock } from '../terminal/text.ts';
import { importForeign } from '../trust/import-foreign.ts';
import { describeLeftOut } from '../trust/trust.ts';
import { isFile, lockName } from '../workspace/folder.ts';
import { type FolderTools, type LockUse, openFolderTools, type ToolsFolder } from '../workspace/toolset.ts';
import { filesPlugin, folderPlugin } from './builtin-plugins.ts';
import { type EnvironmentConsent, reportUnused } from './environment-consent.ts';
import { createPluginKeeper, type PluginKeeper } from './plugin-keeper.ts';
import type { Settings } from './settings.ts';

/** Everything a run uses besides model and files: from this program, the tools folder and the configuration. */
export interface Equipment {
  readonly settings: Settings;
  readonly toolset: FolderTools;
  readonly registry: Registry;
  /** Policies of packs, plugins and tool lists. */
  readonly policies: readonly Policy[];
  readonly used: OpenedRegistry['used'];
  /** Plugins that were left out. */
  readonly leftOut: readonly RegistryDiagnostic[];
  /** Other findings, such as a winner without effect. */
  readonly oddities: readonly RegistryProblem[];
  /** Names in the configuration's lists that no tool has. */
  readonly unknownNames: readonly UnknownToolName[];
  /** Absolute paths of imports, existing or not: files, and package folders. */
  readonly imported: readonly string[];
  /** The definitions of plugins and packs, and their lock. */
  readonly keeper: PluginKeeper;
  /** Access of tool files to the environment; `undefined`: none. */
  readonly environment: EnvironmentConsent | undefined;
  /** Ends the tool processes. */
  close(): Promise<void>;
}

export interface EquipmentOptions {
  /**
   * How to use a lock: ignore it, follow it if it exists, or require it. Default for both: `require` if the settings ask for a lock,
   * otherwise `use`.
   */
  readonly lock?: { readonly tools?: LockUse; readonly plugins?: LockUse };
  /** Default: from the settings. */
  readonly subfolders?: boolean;
  /** Default: tool files get no environment variables. */
  readonly environment?: EnvironmentConsent;
}

/**
 * Opens tools, plugins and packs. A plugin that fails is left out; a pack that fails throws, so that nothing runs unguarded.
 *
 * @throws HoldfastError `usage.invalid` (`lock_missing`), `lock.*`, `registry.*`, `plugin.*`, `pack.*`, `config.invalid`.
 */
export async function openEquipment(
  settings: Settings,
  folder: ToolsFolder,
  { lock = {}, subfolders = settings.effective.subfolders.value, environment }: EquipmentOptions,
  host: Host,
): Promise<Equipment> {
  const { effective, directory } = settings;
  const print = (text: string): void => void host.stderr.write(toPrintableBlock(text));
  // Unset: the loader's default applies.
  const isolation = effective.isolation.origin.layer === 'default' ? {} : { isolation: effective.isolation.value };
  const hasPlugins = effective.plugins.length + effective.packs.length > 0;
  const byDefault = effective.locked.value ? 'require' : 'use';
  const { tools: forTools = byDefault, plugins: forPlugins = byDefault } = lock;
  const lockPath = hasPlugins ? await findPluginLock(folder, settings) : undefined;
  // Without a tools folder, a lock may still cover plugins.
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

/** Plugins that were imported but not used, named by package as in the configuration. */
function listLeftOut({ plugins }: Registry): readonly RegistryDiagnostic[] {
  return plugins.flatMap(({ name, problem, provenance }) =>
    problem === undefined ? [] : [{ ...problem, plugin: provenance.package ?? name }],
  );
}

/**
 * The lock for plugins and packs: the one beside the configuration, unless only the one beside the tools folder covers plugins.
 *
 * @throws HoldfastError `lock.invalid`, and as `compareDefinitions` for a lock.
 */
export async function findPluginLock({ path }: ToolsFolder, { file, directory }: Settings): Promise<string> {
  const own = join(await realpath(dirname(resolve(directory, file ?? lockName))), lockName);
  const beside = path === undefined ? own : join(dirname(await realpath(path)), lockName);
  if (beside === own || !saysOfPlugins(beside)) return own;
  if (!saysOfPlugins(own)) return beside;
  throw new HoldfastError(
    'lock.invalid',
    `Two locks cover plugins and packs: \`${own}\` beside the configuration and \`${beside}\` beside the tools folder. Remove \`plugins\` from one of them.`,
    { data: { reason: 'ambiguous', locks: [own, beside] } },
  );
}

function saysOfPlugins(lock: string): boolean {
  return readDefinitionLock(lock).found;
}

/** Reports on stderr what was left out, and why. */
export function reportProblems(equipment: Equipment, host: Host): void {
  const { settings, toolset, leftOut, oddities, unknownNames, environment } = equipment;
  reportUnused(environment, host);
  if (settings.untrusted.length > 0) host.stderr.write(describeLeftOut(settings.untrusted));
  if (toolset.lockGone !== undefined) host.stderr.write(`warning: ${toolset.lockGone} (lock.invalid: missing)\n`);
  for (const diagnostic of toolset.diagnostics)
    host.stderr.write(`${formatDiagnostic(diagnostic, { folder: toolset.folder.name })}\n`);
  for (const one of leftOut) host.stderr.write(`left out: ${toPrintable(one.message)} (${describeCode(one)})\n`);
  for (const one of oddities) host.stderr.write(`warning: ${toPrintable(one.message)} (${describeCode(one)})\n`);
  for (const { key, name, origin } of unknownNames) {
    const place = origin.file ?? origin.layer;
    host.stderr.write(`warning: unknown tool \`${toPrintable(name)}\` in \`${key}\` of ${toPrintable(place)}\n`);
  }
}

/**
 * Checks a host's tool lists for unknown names: a misspelled name would deny nothing. A workspace's lists are not checked, because its
 * tools may exist elsewhere, nor is anything if a plugin was left out, because its names are unknown.
 *
 * @throws HoldfastError `usage.invalid` (`tool_unknown`).
 */
export function checkListedNames({ leftOut, unknownNames, registry: { tools } }: Equipment): void {
  const misspelt = unknownNames.find(({ origin }) => origin.layer !== 'workspace');
  if (misspelt === undefined || leftOut.length > 0) return;
  const { key, name, origin } = misspelt;
  const names = tools.map((tool) => tool.name);
  throw usageError(
    'tool_unknown',
    `Unknown tool \`${name}\` in \`${key}\` of ${origin.file ?? origin.layer}.${describeNearest(name, names)} Known tools: ${names.join(', ')}.`,
  );
}

/** ` Did you mean …?` for a similar name; empty if there is none. */
export function describeNearest(name: string, names: readonly string[]): string {
  const [nearest] = nearestNames(name, names);
  return nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`;
}

/** Slices of plugins and of their sections. */
export function listSlices({ slices, sections }: Registry): readonly Slice[] {
  return [...new Set([...slices, ...sections.flatMap(slicesOf)])];
}

function slicesOf({ slices, children }: Section): readonly Slice[] {
  return [...slices, ...children.flatMap(slicesOf)];
}

/** The tools of the registry, plus the prompt's own if a section can be opened. */
function listToolNames({ tools, sections }: Registry): readonly string[] {
  const names = tools.map(({ name }) => name);
  return sections.some(hasSummary) ? [...names, 'open_sections', 'read_section'] : names;
}

function hasSummary({ summary, children }: Section): boolean {
  return summary !== undefined || children.some(hasSummary);
}
