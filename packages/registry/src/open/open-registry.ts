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
  /** As that of `readConfig`: the files of origins are named from here. */
  readonly directory: string;
  /** Used before those that the configuration names. */
  readonly builtIn?: readonly { readonly plugin: Plugin; readonly options?: UsePluginOptions }[];
  /**
   * Asked before the code of a package or path is run, with the digest of the file that is going to be imported: so that what is not as it
   * is locked does not run at all. Throwing leaves a plugin out, and is thrown for a pack.
   */
  prepareImport?(given: {
    readonly kind: 'plugin' | 'pack';
    /** As the configuration names it. */
    readonly entry: string;
    readonly source: PackageSource;
  }): void | Promise<void>;
  /**
   * Asked for each plugin of the configuration that works with this Holdfast, before it is used. It may answer another one, with its tool
   * folders loaded, say, which has taken `config` already. Throwing leaves the plugin out, but for `plugin.config.invalid`, which is the
   * host's mistake.
   */
  preparePlugin?(
    plugin: Plugin,
    given: { readonly source: PackageSource; readonly config: JsonObject | undefined },
  ): Plugin | Promise<Plugin>;
  /** Asked for each pack, also those that plugins offer, before it is used. Throwing is thrown: nothing is to run without it. */
  preparePack?(pack: Pack, given: { readonly source: PackageSource }): void | Promise<void>;
}

/** A plugin that could not be used. Others that are left out are among the `problems` of the registry. */
export interface RegistryDiagnostic {
  readonly code: string;
  readonly message: string;
  /** As the configuration names it. */
  readonly plugin: string;
}

/** A plugin that is in force, and how it was asked for. */
export interface UsedPlugin {
  /** As the configuration names it: `@acme/holdfast-git`, `./git.ts#git`, or the plugin's own name where it was handed over as a value. */
  readonly entry: string;
  readonly name: string;
  readonly version: string;
  readonly prefix?: string;
  /** Of its options, in which secrets may be. */
  readonly configDigest?: string;
  readonly source: PackageSource;
  readonly origin: ConfigOrigin;
}

/** A pack that is in force, and how it was asked for. */
export interface UsedPack {
  /** As `UsedPlugin.entry`, or `plugin/pack`. */
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
  /** What is in force of the configuration. */
  readonly used: { readonly plugins: readonly UsedPlugin[]; readonly packs: readonly UsedPack[] };
  /**
   * Absolute paths from which a configuration and what it names are imported: files, and the folders of packages. What a run could write
   * there, the next one would run. What these files import by a path of their own is not among them.
   */
  readonly paths: readonly string[];
}

/**
 * Imports the plugins and packs that a configuration names, and nothing else, and puts them in force. A plugin that cannot be had costs
 * itself; a pack that cannot throws, because nothing is to run without a guard that was asked for. What this process has imported before
 * is as it was then, whatever its file has become.
 *
 * @throws HoldfastError of a pack `plugin.package.*`, `plugin.export.*`, `plugin.version.*`, `config.pack.unknown`,
 * `config.policy.invalid` and what `preparePack` throws; of both what `Registry.use` throws.
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
