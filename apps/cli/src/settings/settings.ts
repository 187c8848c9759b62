import { dirname, relative, resolve, sep } from 'node:path';
import type { HoldfastConfig } from '@holdfast/registry';
import { type ConfigIsolation, type ConfigLayer, type EffectiveConfig, mergeConfig } from '@holdfast/registry/config';
import { readConfig } from '@holdfast/registry/node';
import { packagesOfModel } from '../models/local.ts';
import type { Host } from '../terminal/host.ts';
import { type FoundCode, findConfigCode, findDefaultTools, nameFolder, toSpecifier } from '../trust/found-code.ts';
import { importForeign } from '../trust/import-foreign.ts';
import { demandTrust, type FoundUse, toNamedPackage } from '../trust/trust.ts';
import { isFolder } from '../workspace/folder.ts';
import { findToolsFolder, type ToolsFolder } from '../workspace/toolset.ts';

/** A file to read instead of the default one; false: none. */
export type ConfigFlag = string | false | undefined;

/** Settings from the command line that a configuration may also contain. */
export interface GivenSettings extends Pick<HoldfastConfig, 'limits'> {
  readonly config?: ConfigFlag;
  readonly tools?: string | undefined;
  readonly subfolders?: boolean | undefined;
  readonly locked?: boolean | undefined;
  readonly isolation?: HoldfastConfig['isolation'] | undefined;
  readonly model?: string | undefined;
}

/** The merged configuration. */
export interface Settings {
  readonly effective: EffectiveConfig;
  /** The host's file, relative to the directory; null: none. */
  readonly file: string | null;
  /** True if there is any configuration. */
  readonly found: boolean;
  /** Absolute paths of modules that the configuration imported. */
  readonly imported: readonly string[];
  /** The current folder, or that of a resumed run. */
  readonly directory: string;
  /** Code named on the command line: absolute paths of a configuration and a tools folder, packages of a model. */
  readonly named: readonly string[];
  /** Found code that is not trusted; such a configuration is left out. */
  readonly untrusted: readonly string[];
}

export interface SettingsPlace {
  /** Absolute. Default: no workspace configuration. */
  readonly workspace?: string;
  readonly host: Host;
  readonly found: FoundUse;
}

/**
 * Reads the host's and the workspace's configuration and adds the command line. Found code runs only if it is trusted.
 *
 * @throws HoldfastError `config.*`, what a configuration of the host throws, and as `demandTrust`.
 */
export async function readSettings(given: GivenSettings, place: SettingsPlace): Promise<Settings> {
  const { host, found } = place;
  const { directory } = host;
  const isFound = found.recorded?.isConfigFound ?? given.config === undefined;
  const config = isFound && given.config !== false ? await findConfigCode(directory, given.config) : undefined;
  const likelyTools = await findLikelyTools(given, config?.tools, place);
  const untrusted: string[] = [];
  const demand = async (code: Partial<FoundCode>): Promise<void> => {
    const { names = [], specifiers = [], tools } = code;
    const all = tools === undefined ? names : [...names, nameFolder(tools, directory)];
    if (!(await demandTrust({ names: all, specifiers, tools }, found, { directory, host }))) untrusted.push(...all);
  };
  // One question for everything; without questions, each is decided separately.
  const all = { ...config, tools: likelyTools };
  for (const code of found.untrusted === 'refuse' ? [all] : [{ ...config, tools: undefined }, { tools: likelyTools }])
    await demand(code);
  const isTrusted = (names: readonly string[]): boolean => !names.some((name) => untrusted.includes(name));
  const withoutHost = async (): Promise<Settings> => {
    return { ...(await readLayers({ ...given, config: false }, place)), untrusted };
  };
  if (!isTrusted(config?.names ?? [])) return await withoutHost();

  const settings = await readLayers(given, place);
  // Known only after loading the configuration: computed names, and the tools folder.
  const entries = listEntries(settings).filter(({ specifier }) => config?.specifiers.includes(specifier) === false);
  const named = { names: entries.map(({ name }) => name), specifiers: entries.map(({ specifier }) => specifier) };
  await demand(named);
  if (!isTrusted(named.names)) return await withoutHost();
  const tools = await findToolsToTrust(given, settings, { isFound, found });
  if (tools !== undefined && tools !== likelyTools) await demand({ tools });
  return { ...settings, named: listNamed(given, settings, isFound), untrusted };
}

/** Guessed before the configuration is loaded. */
async function findLikelyTools(
  given: GivenSettings,
  configured: string | undefined,
  { host: { directory }, found }: SettingsPlace,
): Promise<string | undefined> {
  if (found.recorded !== undefined) return found.recorded.tools;
  const isNamed = given.tools !== undefined || typeof given.config === 'string';
  return found.tools && !isNamed ? (configured ?? (await findDefaultTools(directory))) : undefined;
}

/** A tools folder named on the command line, or by a configuration named there, needs no trust. */
async function findToolsToTrust(
  given: GivenSettings,
  { effective: { tools }, directory }: Settings,
  { isFound, found }: { readonly isFound: boolean; readonly found: FoundUse },
): Promise<string | undefined> {
  if (!found.tools || found.recorded !== undefined || given.tools !== undefined) return undefined;
  if (tools === undefined) return await findDefaultTools(directory);
  if (!isFound) return undefined;
  const path = resolve(directory, fromDirectory(tools.value, { directory, file: tools.origin.file }));
  return (await isFolder(path)) ? path : undefined;
}

/** The host's plugins and packs that are imported by name, and the packages of its model. */
function listEntries({ effective: { plugins, packs, model }, directory }: Settings): readonly NamedEntry[] {
  const entries = [
    ...plugins.map(({ value, origin }) => ({ entry: value.plugin, origin })),
    ...packs.map(({ value, origin }) => ({ entry: value.pack, origin })),
  ];
  const models = model.origin.layer === 'host' ? packagesOfModel(model.value) : [];
  const ofPlugins = entries.flatMap(({ entry, origin }) => {
    if (typeof entry !== 'string' || origin.layer !== 'host') return [];
    const name = entry.replace(/#.*$/, '');
    const specifier = toSpecifier(name, dirname(resolve(directory, origin.file ?? '.')));
    return specifier === undefined ? [] : [{ name, specifier }];
  });
  return [...ofPlugins, ...models.map((name) => ({ name, specifier: name }))];
}

interface NamedEntry {
  readonly name: string;
  readonly specifier: string;
}

/** Code named on the command line, or by a configuration named there. */
function listNamed(
  given: GivenSettings,
  { effective, file, directory }: Settings,
  isFound: boolean,
): readonly string[] {
  const { tools, model } = effective;
  const isModelNamed = model.origin.layer === 'command line' || (!isFound && model.origin.layer === 'host');
  const isToolsNamed = tools !== undefined && (given.tools !== undefined || !isFound);
  return [
    ...(isFound || file === null ? [] : [resolve(directory, file)]),
    ...(isToolsNamed ? [resolve(directory, fromDirectory(tools.value, { directory, file: tools.origin.file }))] : []),
    ...(isModelNamed ? packagesOfModel(model.value).map(toNamedPackage) : []),
  ];
}

async function readLayers(
  { config, ...given }: GivenSettings,
  { workspace, host, found }: SettingsPlace,
): Promise<Settings> {
  const { directory } = host;
  const { answer, imported } = await importForeign(host, () => readConfig({ directory, file: config, workspace }));
  // A workspace's packs are the host's; without the host's configuration they are unknown.
  const isWithout = config === false && found.untrusted === 'leave-out';
  const layers = answer.layers.map((layer) =>
    isWithout ? { ...layer, config: { ...layer.config, packs: [] } } : layer,
  );
  const typed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const commandLine: ConfigLayer = { layer: 'command line', config: typed };
  const own = layers.find(({ layer }) => layer === 'host');
  return {
    effective: mergeConfig([...layers, commandLine]),
    file: own?.file ?? null,
    found: layers.length > 0,
    imported,
    directory,
    named: [],
    untrusted: [],
  };
}

/**
 * The tools folder: from the command line, from the configuration (relative to its folder), or the default.
 *
 * @throws HoldfastError `usage.invalid` (`folder_missing`).
 */
export function findFolder({ effective: { tools }, directory }: Settings): Promise<ToolsFolder> {
  if (tools === undefined) return findToolsFolder(undefined, directory);
  const { value, origin } = tools;
  return findToolsFolder(fromDirectory(value, { directory, file: origin.file }), directory);
}

/** The model's name; a script's path is relative to the folder of the configuration that names it. */
export function findModelName({ effective: { model }, directory }: Settings): string {
  const { value, origin } = model;
  const [, path] = /^script:(.+)$/s.exec(value) ?? [];
  return path === undefined ? value : `script:${fromDirectory(path, { directory, file: origin.file })}`;
}

/** Converts a path relative to the configuration into one relative to the directory. */
function fromDirectory(
  path: string,
  { directory, file }: { readonly directory: string; readonly file: string | undefined },
): string {
  const place = file === undefined ? directory : dirname(resolve(directory, file));
  if (path === '' || place === directory) return path;
  const named = relative(directory, resolve(place, path));
  if (named === '') return '.';
  return resolve(named) === named || named.startsWith(`..${sep}`) || named === '..' ? named : `.${sep}${named}`;
}

/** The minimum isolation from a configuration; `undefined` if unset. @throws as `readSettings`. */
export async function findIsolation(given: GivenSettings, place: SettingsPlace): Promise<ConfigIsolation | undefined> {
  const { isolation } = (await readSettings(given, place)).effective;
  return isolation.origin.layer === 'default' ? undefined : isolation.value;
}

/** The limits of a run, which may be changed on resume. */
export interface RunLimits {
  readonly maxRounds: number | undefined;
  /** Including nested calls. */
  readonly maxCalls: number | undefined;
  /** Input and output tokens, as reported by the model. */
  readonly maxTokens: number | undefined;
  readonly timeoutMs: number | undefined;
  /** How long a question stays open. */
  readonly approvalTimeoutMs: number | undefined;
}

/** The limits that were set; others are left to the runtime. */
export function findLimits({ effective: { limits } }: Settings): RunLimits {
  const find = (key: keyof RunLimits): number | undefined => {
    const limit = limits[key];
    return limit === undefined || limit.origin.layer === 'default' ? undefined : limit.value;
  };
  return {
    maxRounds: find('maxRounds'),
    maxCalls: find('maxCalls'),
    maxTokens: find('maxTokens'),
    timeoutMs: find('timeoutMs'),
    approvalTimeoutMs: find('approvalTimeoutMs'),
  };
}

/** The limits that are set. */
export function toLimits(given: Partial<RunLimits>): NonNullable<HoldfastConfig['limits']> {
  const { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs } = given;
  const limits = { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
