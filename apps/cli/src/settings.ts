import { dirname, relative, resolve, sep } from 'node:path';
import {
  type ConfigIsolation,
  type ConfigLayer,
  type EffectiveConfig,
  type HoldfastConfig,
  mergeConfig,
} from '@holdfast/registry';
import { readConfig } from '@holdfast/registry/node';
import type { Host } from './host.ts';
import { importForeign } from './import-foreign.ts';
import { findToolsFolder, type ToolsFolder } from './toolset.ts';

/** A file to read in place of the one that is found; false: none is read. */
export type ConfigFlag = string | false | undefined;

/** What the command line says of what a configuration may say, too. */
export interface GivenSettings extends Pick<HoldfastConfig, 'limits'> {
  readonly config?: ConfigFlag;
  readonly tools?: string | undefined;
  readonly subfolders?: boolean | undefined;
  readonly locked?: boolean | undefined;
  readonly isolation?: HoldfastConfig['isolation'] | undefined;
  readonly model?: string | undefined;
}

/** What is in force, of the configuration and of the command line. */
export interface Settings {
  readonly effective: EffectiveConfig;
  /** The host's file, as people write it from the directory; null: there is none. */
  readonly file: string | null;
  /** Whether some file says something. */
  readonly found: boolean;
  /** Absolute paths of what the configuration made this process import. */
  readonly imported: readonly string[];
  /** Where the program was called, or the run was begun. */
  readonly directory: string;
}

export interface SettingsPlace {
  /** Absolute. Absent: no workspace has a say. */
  readonly workspace?: string;
  readonly host: Pick<Host, 'directory' | 'stdout' | 'stderr' | 'guardExit'>;
}

/**
 * Reads what the host and the workspace say, and adds what the command line says.
 *
 * @throws HoldfastError `config.*`, and what a configuration of the host throws.
 */
export async function readSettings(
  { config, ...given }: GivenSettings,
  { workspace, host }: SettingsPlace,
): Promise<Settings> {
  const { directory } = host;
  const { answer, imported } = await importForeign(host, () => readConfig({ directory, file: config, workspace }));
  const { layers } = answer;
  const typed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const commandLine: ConfigLayer = { layer: 'command line', config: typed };
  const own = layers.find(({ layer }) => layer === 'host');
  return {
    effective: mergeConfig([...layers, commandLine]),
    file: own?.file ?? null,
    found: layers.length > 0,
    imported,
    directory,
  };
}

/**
 * The tools folder: that of the command line, that of the configuration, which is named from its own folder, or the default one.
 *
 * @throws HoldfastError `usage.folder_missing`.
 */
export function findFolder({ effective: { tools }, directory }: Settings): Promise<ToolsFolder> {
  if (tools === undefined) return findToolsFolder(undefined, directory);
  const { value, origin } = tools;
  return findToolsFolder(fromDirectory(value, { directory, file: origin.file }), directory);
}

/** The model's name; the file of a script is named from the folder of who names it. */
export function findModelName({ effective: { model }, directory }: Settings): string {
  const { value, origin } = model;
  const [, path] = /^script:(.+)$/s.exec(value) ?? [];
  return path === undefined ? value : `script:${fromDirectory(path, { directory, file: origin.file })}`;
}

/** What a configuration names from its own folder, as it is named from the directory. */
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

/** The weakest isolation that a configuration has tools of the folder run in; `undefined` where nobody says. @throws as `readSettings`. */
export async function findIsolation(given: GivenSettings, place: SettingsPlace): Promise<ConfigIsolation | undefined> {
  const { isolation } = (await readSettings(given, place)).effective;
  return isolation.origin.layer === 'default' ? undefined : isolation.value;
}

/** What may be set for a run, and changed when it is gone on with. */
export interface RunLimits {
  readonly maxRounds: number | undefined;
  /** Calls that are run, nested ones included. */
  readonly maxCalls: number | undefined;
  /** Read and written, as the model reports them. */
  readonly maxTokens: number | undefined;
  readonly timeoutMs: number | undefined;
  /** How long a question waits for its answer. */
  readonly approvalTimeoutMs: number | undefined;
}

/** What nobody has set is as the runtime has it, and absent. */
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

/** Those that are set. */
export function toLimits(given: RunLimits): NonNullable<HoldfastConfig['limits']> {
  const { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs } = given;
  const limits = { maxRounds, maxCalls, maxTokens, timeoutMs, approvalTimeoutMs };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
