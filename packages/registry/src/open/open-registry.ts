import { resolve } from 'node:path';
import type { JsonObject, Pack, Plugin } from '@holdfast/core';
import type { ConfigOrigin, EffectiveConfig } from '../config/config.ts';
import { readEntryName } from '../resolve/names.ts';
import type { PackageSource, Registry, UsePluginOptions } from '../resolve/types.ts';
import { createRegistry } from './create-registry.ts';
import { placesOf } from './import-entry.ts';
import { openPacks } from './packs.ts';
import { openPlugins } from './plugins.ts';
import { folderOf } from './small-file.ts';

export interface OpenRegistryOptions {
  /** As for `readConfig`: the files of origins are relative to it. */
  readonly directory: string;
  /** Used before the plugins of the configuration. */
  readonly builtIn?: readonly { readonly plugin: Plugin; readonly options?: UsePluginOptions }[];
  /**
   * Called before the code of a package or path runs, with the digest of the file to import, so that code that differs
   * from the lock never runs. A throw leaves out a plugin and is rethrown for a pack.
   */
  prepareImport?(given: {
    readonly kind: 'plugin' | 'pack';
    /** The entry in the configuration. */
    readonly entry: string;
    readonly source: PackageSource;
  }): void | Promise<void>;
  /**
   * Called for each plugin of the configuration that supports this Holdfast version, before it is used. May return
   * another plugin, e.g. with loaded tool folders, which has consumed `config`. A throw leaves out the plugin, except
   * `plugin.invalid`, which is the host's error.
   */
  preparePlugin?(
    plugin: Plugin,
    given: { readonly source: PackageSource; readonly config: JsonObject | undefined },
  ): Plugin | Promise<Plugin>;
  /** Called for each pack, including those that plugins offer, before it is used. Errors are rethrown: nothing may run without it. */
  preparePack?(pack: Pack, given: { readonly source: PackageSource }): void | Promise<void>;
}

/** A plugin that could not be opened. The registry's `problems` list other plugins that were left out. */
export interface RegistryDiagnostic {
  readonly code: string;
  /** The finer kind, if the code has several. */
  readonly reason?: string;
  readonly message: string;
  /** The entry in the configuration. */
  readonly plugin: string;
}

/** An active plugin and its entry. */
export interface UsedPlugin {
  /** The entry in the configuration, such as `@acme/holdfast-git` or `./git.ts#git`; for a plugin passed as a value, its name. */
  readonly entry: string;
  readonly name: string;
  readonly version: string;
  readonly prefix?: string;
  /** Digest of its options, which may contain secrets. */
  readonly configDigest?: string;
  readonly source: PackageSource;
  readonly origin: ConfigOrigin;
}

/** An active pack and its entry. */
export interface UsedPack {
  /** Like `UsedPlugin.entry`, or `plugin/pack`. */
  readonly entry: string;
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly preset: string;
  readonly config?: JsonObject;
  readonly observe?: boolean;
  readonly source: PackageSource;
  readonly origin: ConfigOrigin;
}

export interface OpenedRegistry {
  readonly registry: Registry;
  readonly diagnostics: readonly RegistryDiagnostic[];
  /** The active parts of the configuration. */
  readonly used: { readonly plugins: readonly UsedPlugin[]; readonly packs: readonly UsedPack[] };
  /**
   * Absolute paths of the files and package folders imported for a configuration. A run that can write there controls
   * the code of the next run. Files that these import themselves by path are not included.
   */
  readonly paths: readonly string[];
}

/**
 * Imports the plugins and packs of a configuration, and only those, and uses them. A plugin that fails is left out; a pack that fails
 * throws, because nothing may run without a requested guard. Modules that this process has already imported are not reloaded.
 *
 * @throws HoldfastError for a pack `plugin.package.*`, `plugin.export.*`, `plugin.version.*`, `config.invalid` and the errors of `preparePack`; for both the errors of `Registry.use`.
 */
export async function openRegistry(config: EffectiveConfig, options: OpenRegistryOptions): Promise<OpenedRegistry> {
  const { directory, builtIn = [] } = options;
  const winners = Object.fromEntries([...config.winners].map(([name, { value }]) => [name, value]));
  const empty = builtIn.reduce(
    (registry, { plugin, options: use }) => registry.use(plugin, use),
    createRegistry({ winners }),
  );
  const plugins = await openPlugins(config.plugins, empty, options);
  const packs = await openPacks(config.packs, plugins, options);
  return {
    registry: packs.registry,
    diagnostics: plugins.diagnostics,
    used: { plugins: plugins.used, packs: packs.used },
    paths: await listPaths(config, directory),
  };
}

async function listPaths({ plugins, packs }: EffectiveConfig, directory: string): Promise<readonly string[]> {
  const paths = new Set<string>();
  const entries = [
    ...plugins.map(({ value, origin }) => ({ entry: value.plugin, origin })),
    ...packs.map(({ value, origin }) => ({ entry: value.pack, origin })),
  ];
  for (const { entry, origin } of entries) {
    if (origin.layer === 'workspace') continue;
    if (origin.file !== undefined) paths.add(resolve(directory, origin.file));
    const name = typeof entry === 'string' ? readEntryName(entry) : undefined;
    if (name === undefined || name.type === 'offered') continue;
    for (const path of await placesOf(name, { from: folderOf(origin, directory) })) paths.add(path);
  }
  return [...paths];
}
