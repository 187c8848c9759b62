import type { JsonObject, Pack, Plugin } from '@holdfast/core';
import type { ConfigOrigin } from './config.ts';
import type { EffectiveConfig } from './merge-config.ts';
import type { PackageSource, Registry, UsePluginOptions } from './registry.ts';

export interface OpenRegistryOptions {
  /** As that of `readConfig`: the files of origins are named from here. */
  readonly directory: string;
  /** Used before those that the configuration names. */
  readonly builtIn?: readonly { readonly plugin: Plugin; readonly options?: UsePluginOptions }[];
  /** Asked for each plugin that was imported, before it is used: answers it with its tool folders loaded, say. Throwing leaves it out. */
  preparePlugin?(plugin: Plugin, source: PackageSource): Plugin | Promise<Plugin>;
  /** Asked for each pack, also those that plugins offer, before it is used. Throwing is thrown: nothing is to run without it. */
  preparePack?(pack: Pack, source: PackageSource): void | Promise<void>;
}

/** What was left out; the rest is in force. */
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
  readonly config?: JsonObject;
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
  /** Without those that are built in. */
  readonly used: { readonly plugins: readonly UsedPlugin[]; readonly packs: readonly UsedPack[] };
  /**
   * Absolute paths of what was imported and of the configuration: files, and the folders of packages. What a run could write there, the
   * next one would run.
   */
  readonly paths: readonly string[];
}

/**
 * Imports the plugins and packs that a configuration names, and nothing else, and puts them in force. A plugin that cannot be had costs
 * itself; a pack that cannot throws, because nothing is to run without a guard that was asked for.
 *
 * @throws HoldfastError of a pack `plugin.package.*`, `plugin.export.*` and what `preparePack` throws; `config.policy.invalid`; of both
 * what `Registry.use` throws.
 */
export declare function openRegistry(config: EffectiveConfig, options: OpenRegistryOptions): Promise<OpenedRegistry>;
