import type { Json, JsonObject } from '@holdfast/core';
import type { ConfigIsolation, ConfigLimits, ConfigOrigin, PackEntry, PluginEntry } from './config.ts';

/** A value, and whose it is. */
export interface EffectiveValue<Value> {
  readonly value: Value;
  readonly origin: ConfigOrigin;
}

/** A list that several layers may have narrowed: each of them has every name that is left. */
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
  /** `looser`: than what the host has, where the layer may only tighten; `replaced`: by the command line. */
  readonly reason: 'looser' | 'replaced';
}

/** What is in force, with the origin of each value. */
export interface EffectiveConfig {
  readonly plugins: readonly EffectiveValue<PluginEntry>[];
  /** In a value of the origin `workspace`, `pack` is as `WorkspacePackEntry` has it. */
  readonly packs: readonly EffectiveValue<PackEntry>[];
  readonly winners: ReadonlyMap<string, EffectiveValue<string>>;
  /** `undefined`: `./plugins`, when there is one. */
  readonly tools: EffectiveValue<string> | undefined;
  readonly subfolders: EffectiveValue<boolean>;
  readonly locked: EffectiveValue<boolean>;
  readonly isolation: EffectiveValue<ConfigIsolation>;
  readonly model: EffectiveValue<string>;
  /** `undefined`: all tools. */
  readonly allowTools: EffectiveList | undefined;
  readonly denyTools: readonly EffectiveValue<string>[];
  /** What is absent has no limit. */
  readonly limits: { readonly [Key in keyof ConfigLimits]?: EffectiveValue<number> };
  readonly passedOver: readonly PassedOver[];
}

/** A value for people, and whose it is. */
export interface ConfigRow {
  /** `limits.maxCalls`, say; lists have a row for each of what is in them. */
  readonly key: string;
  readonly value: Json;
  readonly origins: readonly ConfigOrigin[];
}

/** Everything that is in force, to be printed. Of the options of plugins, where secrets may be, it has the names alone. */
export function listConfigValues(config: EffectiveConfig): readonly ConfigRow[] {
  const { plugins, packs, winners, allowTools, denyTools, limits } = config;
  const one = (key: string, found: EffectiveValue<Json> | undefined): readonly ConfigRow[] =>
    found === undefined ? [] : [{ key, value: found.value, origins: [found.origin] }];
  return [
    ...plugins.flatMap(({ value, origin }) => one('plugins', { value: showPlugin(value), origin })),
    ...packs.flatMap(({ value, origin }) => one('packs', { value: showPack(value), origin })),
    ...within('winners', winners),
    ...(['tools', 'subfolders', 'locked', 'isolation', 'model'] as const).flatMap((key) => one(key, config[key])),
    ...(allowTools === undefined ? [] : [{ key: 'allowTools', ...allowTools }]),
    ...denyTools.flatMap((denied) => one('denyTools', denied)),
    ...within('limits', Object.entries(limits)),
  ];
}

function within(key: string, entries: Iterable<readonly [string, EffectiveValue<Json>]>): readonly ConfigRow[] {
  return [...entries].map(([name, { value, origin }]) => ({ key: `${key}.${name}`, value, origins: [origin] }));
}

/** As a configuration names it; what was handed over as a value, by its name and version. */
export function showEntry(entry: PluginEntry['plugin'] | PackEntry['pack']): string {
  return typeof entry === 'string' ? entry : `${entry.name}@${entry.version}`;
}

function showPlugin({ plugin, prefix, config }: PluginEntry): JsonObject {
  return {
    plugin: showEntry(plugin),
    ...(prefix === undefined ? {} : { prefix }),
    ...(config === undefined ? {} : { options: Object.keys(config) }),
  };
}

function showPack({ pack, ...use }: PackEntry): JsonObject {
  return { pack: showEntry(pack), ...use };
}
