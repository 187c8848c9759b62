import type { Json } from '@holdfast/core';
import type { ConfigIsolation, ConfigLayer, ConfigLimits, ConfigOrigin, PackEntry, PluginEntry } from './config.ts';

/** A value, and whose it is. */
export interface EffectiveValue<Value> {
  readonly value: Value;
  readonly origin: ConfigOrigin;
}

/** A list that several layers have narrowed: each of them has every name that is left. */
export interface EffectiveList {
  readonly value: readonly string[];
  readonly origins: readonly ConfigOrigin[];
}

/** What a layer asked for and did not get. */
export interface PassedOver {
  /** `limits.maxCalls`, say. */
  readonly key: string;
  readonly value: Json;
  readonly origin: ConfigOrigin;
  /** A sentence for people. */
  readonly reason: string;
}

/** What is in force, with the origin of each value. */
export interface EffectiveConfig {
  readonly plugins: readonly EffectiveValue<PluginEntry>[];
  /** Those of a workspace have an `id` that begins with `workspace-`. */
  readonly packs: readonly EffectiveValue<PackEntry>[];
  readonly winners: ReadonlyMap<string, EffectiveValue<string>>;
  readonly tools: EffectiveValue<string> | undefined;
  readonly subfolders: EffectiveValue<boolean>;
  readonly locked: EffectiveValue<boolean>;
  readonly isolation: EffectiveValue<ConfigIsolation>;
  readonly model: EffectiveValue<string>;
  /** `undefined`: all tools. */
  readonly allowTools: EffectiveList | undefined;
  readonly denyTools: readonly EffectiveValue<string>[];
  readonly limits: { readonly [Key in keyof ConfigLimits]?: EffectiveValue<number> };
  readonly passedOver: readonly PassedOver[];
}

/**
 * What is in force where several have a say, whatever their order in the list. What a workspace says is taken only where it is tighter.
 * The command line has the host's rights: its values, and its `allowTools`, take the place of others; what it denies, and its plugins and
 * packs, are added.
 */
export declare function mergeConfig(layers: readonly ConfigLayer[]): EffectiveConfig;
