import type { Json, JsonObject, Pack, Plugin, Policy } from '@holdfast/core';
import { allowTools, denyTools } from '@holdfast/policy';

/** In which kind of process tools of a folder run, weakest first. */
export type ConfigIsolation = 'in-process' | 'worker' | 'subprocess' | 'sandbox';

/** How far a run may go. Whole numbers of at least 1. */
export interface ConfigLimits {
  /** Messages of the model. Default 32. */
  readonly maxRounds?: number;
  /** Calls that are run, nested ones included. */
  readonly maxCalls?: number;
  /** Read and written, as the model reports them. */
  readonly maxTokens?: number;
  /** Of the whole run. */
  readonly timeoutMs?: number;
  /** How long a question waits for a person. Default 24 hours. */
  readonly approvalTimeoutMs?: number;
}

/** A plugin, and how it is used. */
export interface PluginEntry {
  /** A plugin; or the name of an installed package, or a path from the configuration's folder that begins with `./`, each with `#export` where it exports several. */
  readonly plugin: string | Plugin;
  /** Stands before the names of its tools: `git` makes `git_push` of `push`. */
  readonly prefix?: string;
  /** The plugin's options. */
  readonly config?: JsonObject;
}

/** A pack, and how it is used. */
export interface PackEntry {
  /** As `PluginEntry.plugin`; or `plugin/pack`, a pack that a plugin of this configuration offers. */
  readonly pack: string | Pack;
  /** Stands before the ids of its policies. Default: the pack's name. Needed where one pack is used twice. */
  readonly id?: string;
  /** Default `recommended`. */
  readonly preset?: string;
  /** Each option takes the place of the preset's. */
  readonly config?: JsonObject;
  /** Whether its policies are only tried out. Default: as the preset says. */
  readonly observe?: boolean;
}

/** What `holdfast.config.ts` says. Everything may be left out. */
export interface HoldfastConfig {
  readonly plugins?: readonly (string | Plugin | PluginEntry)[];
  /** Guards that are in force. */
  readonly packs?: readonly (string | Pack | PackEntry)[];
  /** Who keeps a name that several plugins have: a tool or command as it would be seen, and the name of a plugin. */
  readonly winners?: Readonly<Record<string, string>>;
  /** Folder of tool files, from the configuration's folder. Default `./plugins`, when there is one. */
  readonly tools?: string;
  /** Whether folders in the tools folder are read, too. Default false. */
  readonly subfolders?: boolean;
  /** Whether there has to be a lock. Default false: it is kept to where there is one. */
  readonly locked?: boolean;
  /** The weakest isolation of tool files. Default `subprocess`. */
  readonly isolation?: ConfigIsolation;
  /** `offline`, `script:<file>`, `<provider>:<model>` or `<plugin>/<model>`. Default `offline`. */
  readonly model?: string;
  /** No other tool may run. Names as a model sees them; an empty list lets none run. */
  readonly allowTools?: readonly string[];
  /** These never run. Names as a model sees them. */
  readonly denyTools?: readonly string[];
  readonly limits?: ConfigLimits;
}

/** A pack that a workspace adds beside those of the host. */
export interface WorkspacePackEntry extends Omit<PackEntry, 'pack' | 'id'> {
  /** One that the host uses or that a plugin of it offers: its name, `plugin/pack`, or as the host's configuration writes it. */
  readonly pack: string;
}

/** What `holdfast.policy.json` of a workspace says. It is data, and can only make things tighter. */
export interface WorkspaceConfig {
  readonly packs?: readonly (string | WorkspacePackEntry)[];
  readonly locked?: boolean;
  readonly isolation?: ConfigIsolation;
  readonly allowTools?: readonly string[];
  readonly denyTools?: readonly string[];
  readonly limits?: ConfigLimits;
}

/** Who has a say, in the order of their word; `workspace` may tighten only. */
export type ConfigLayerName = 'default' | 'host' | 'workspace' | 'command line';

/** Where a value comes from. */
export interface ConfigOrigin {
  readonly layer: ConfigLayerName;
  /** As people write it; absent where it comes from no file. */
  readonly file?: string;
}

/** What one of them says. Its config has been checked: by `defineConfig`, or by whoever read it. */
export type ConfigLayer = { readonly file?: string } & (
  | { readonly layer: 'host' | 'command line'; readonly config: HoldfastConfig }
  | { readonly layer: 'workspace'; readonly config: WorkspaceConfig }
);

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

/** A name in a list of tools that no tool has. */
export interface UnknownToolName {
  readonly key: 'allowTools' | 'denyTools';
  readonly name: string;
  readonly origin: ConfigOrigin;
}

export interface ConfigPolicies {
  /** By the ids `config-allow-tools`, `config-host-deny-tools` and so on, so that a denial says whose it is. */
  readonly policies: readonly Policy[];
  /** A misspelt name in `denyTools` denies nothing: a host wants to hear of these. */
  readonly unknown: readonly UnknownToolName[];
}

/** The lists of tools as policies. `toolNames` are those of the run: what else is listed has nothing to apply to. */
export function configPolicies(
  { allowTools: allowed, denyTools: denied }: Pick<EffectiveConfig, 'allowTools' | 'denyTools'>,
  toolNames: Iterable<string>,
): ConfigPolicies {
  const known = new Set(toolNames);
  const byLayer = Map.groupBy(
    denied.filter(({ value }) => known.has(value)),
    ({ origin }) => origin.layer,
  );
  const denying = [...byLayer].map(([layer, names]) =>
    denyTools(
      names.map(({ value }) => value),
      { id: `config-${layer.replaceAll(' ', '-')}-deny-tools` },
    ),
  );
  const allowing =
    allowed === undefined
      ? []
      : [
          allowTools(
            allowed.value.filter((name) => known.has(name)),
            { id: 'config-allow-tools' },
          ),
        ];
  const [allowOrigin] = allowed?.origins ?? [];
  const listed = [
    ...(allowed?.value ?? []).map((name) => ({ key: 'allowTools' as const, name, origin: allowOrigin })),
    ...denied.map(({ value, origin }) => ({ key: 'denyTools' as const, name: value, origin })),
  ];
  const unknown = listed.flatMap(({ origin, ...rest }) =>
    origin === undefined || known.has(rest.name) ? [] : [{ ...rest, origin }],
  );
  return { policies: [...denying, ...allowing], unknown };
}
