import { definePlugin, HoldfastError, isHoldfastError, type Plugin } from '@holdfast/core';
import { describeCode, describeThrown, digestJson, toReason } from '@holdfast/core/internal';
import { type EffectiveValue, type PluginEntry, showEntry } from '../config/config.ts';
import { findVersionProblem } from '../resolve/holdfast-version.ts';
import { readEntryName } from '../resolve/names.ts';
import type { PackageSource, Registry } from '../resolve/types.ts';
import { type ImportOptions, importPlugin } from './import-entry.ts';
import type { OpenRegistryOptions, RegistryDiagnostic, UsedPlugin } from './open-registry.ts';
import { folderOf } from './small-file.ts';

export interface OpenedPlugins {
  readonly registry: Registry;
  readonly used: readonly UsedPlugin[];
  /** By plugin, including built-in ones. */
  readonly sources: ReadonlyMap<string, PackageSource>;
  readonly diagnostics: readonly RegistryDiagnostic[];
}

/** @throws HoldfastError the errors of `Registry.use`, and `plugin.invalid`. */
export async function openPlugins(
  entries: readonly EffectiveValue<PluginEntry>[],
  start: Registry,
  options: OpenRegistryOptions,
): Promise<OpenedPlugins> {
  let registry = start;
  const used: UsedPlugin[] = [];
  const sources = new Map((options.builtIn ?? []).map(({ plugin, options: use }) => [plugin.name, use?.source ?? {}]));
  const diagnostics: RegistryDiagnostic[] = [];
  for (const { value, origin } of entries) {
    const { prefix, config } = value;
    const entry = showEntry(value.plugin);
    const had = await attempt(entry, () => havePlugin({ value, origin }, options));
    if (had.type === 'left-out') {
      diagnostics.push(had.diagnostic);
      continue;
    }
    const { plugin, prepared, source } = had.value;
    registry = registry.use(prepared, {
      source,
      gateUndeclared: true,
      ...(prefix === undefined ? {} : { prefix }),
      // `preparePlugin` consumed the options.
      ...(config === undefined || prepared !== plugin ? {} : { config }),
    });
    if (registry.plugins.at(-1)?.state !== 'in-force') continue;
    sources.set(plugin.name, source);
    used.push({
      entry,
      name: plugin.name,
      version: plugin.version,
      ...(prefix === undefined ? {} : { prefix }),
      ...(config === undefined ? {} : { configDigest: await digestJson(config) }),
      source,
      origin,
    });
  }
  return { registry, used, sources, diagnostics };
}

interface HadPlugin {
  readonly plugin: Plugin;
  /** The plugin to use. */
  readonly prepared: Plugin;
  readonly source: PackageSource;
}

async function havePlugin(
  { value: { plugin: named, config }, origin }: EffectiveValue<PluginEntry>,
  { directory, preparePlugin, prepareImport }: OpenRegistryOptions,
): Promise<HadPlugin> {
  const { plugin, source } =
    typeof named === 'string'
      ? await importNamed(named, {
          from: folderOf(origin, directory),
          directory,
          beforeImport: (source) => prepareImport?.({ kind: 'plugin', entry: named, source }),
        })
      : { plugin: named, source: origin.file === undefined ? {} : { file: origin.file } };
  const { name, version, description, holdfast } = plugin;
  // A value not made by `definePlugin` may have an invalid head, which would fail everything.
  definePlugin({ name, version, description, holdfast });
  // The registry leaves out an unsupported plugin; none of its code runs before.
  const isFit = findVersionProblem(name, holdfast) === undefined;
  const prepared = isFit ? await preparePlugin?.(plugin, { source, config }) : undefined;
  return { plugin, prepared: prepared ?? plugin, source };
}

async function importNamed(
  text: string,
  options: ImportOptions,
): Promise<{ readonly plugin: Plugin; readonly source: PackageSource }> {
  const name = readEntryName(text);
  if (name === undefined || name.type === 'offered') {
    throw new HoldfastError('plugin.package.failed', `\`${text}\` is neither a package name nor a path.`, {
      data: { reason: 'missing' },
    });
  }
  const { thing, source } = await importPlugin(name, options);
  return { plugin: thing, source };
}

type Attempt<Value> =
  | { readonly type: 'had'; readonly value: Value }
  | { readonly type: 'left-out'; readonly diagnostic: RegistryDiagnostic };

/** An error of one plugin leaves out only that plugin. */
async function attempt<Value>(plugin: string, have: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { type: 'had', value: await have() };
  } catch (thrown) {
    const kind = isHoldfastError(thrown) ? thrown : { code: 'plugin.failed' };
    if (describeCode(kind) === 'plugin.invalid: config') throw thrown;
    const message = describeThrown(thrown);
    const diagnostic = { code: kind.code, ...toReason(kind), message, plugin };
    return { type: 'left-out', diagnostic };
  }
}
