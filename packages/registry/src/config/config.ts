import type { Json, JsonObject, Pack, Plugin, Policy } from '@holdfast/core';
import { describeRule, type FactRule, type FactRules, factPolicy, type RuleLines } from '@holdfast/facts/rules';
import { allowTools, denyTools } from '@holdfast/policy';

/** The process in which tools of a folder run, weakest isolation first. */
export type ConfigIsolation = 'in-process' | 'worker' | 'subprocess' | 'sandbox';

/** The limits of a run. Integers of at least 1. */
export interface ConfigLimits {
  /** Messages of the model. Default 32. */
  readonly maxRounds?: number;
  /** Executed calls, including nested ones. */
  readonly maxCalls?: number;
  /** Input and output tokens, as reported by the model. */
  readonly maxTokens?: number;
  /** For the whole run. */
  readonly timeoutMs?: number;
  /** How long an approval waits for a person. Default 24 hours. */
  readonly approvalTimeoutMs?: number;
}

/** A plugin and its settings. */
export interface PluginEntry {
  /**
   * A plugin, the name of an installed package, or a path from the configuration's folder that starts with `./`; names
   * and paths take `#export` if the module exports several plugins.
   */
  readonly plugin: string | Plugin;
  /** Prefix of its tool names: `git` turns `push` into `git_push`. */
  readonly prefix?: string;
  /** The plugin's options. */
  readonly config?: JsonObject;
}

/** A pack and its settings. */
export interface PackEntry {
  /** Like `PluginEntry.plugin`, or `plugin/pack` for a pack offered by a plugin of this configuration. */
  readonly pack: string | Pack;
  /** Prefix of its policies' ids. Default: the pack's name. Required to use one pack twice. */
  readonly id?: string;
  /** Default `recommended`. */
  readonly preset?: string;
  /** Each option replaces that of the preset. */
  readonly config?: JsonObject;
  /** Record the decisions of its policies without enforcing them. Default: set by the preset. */
  readonly observe?: boolean;
}

/** The content of `holdfast.config.ts`. Everything is optional. */
export interface HoldfastConfig {
  readonly plugins?: readonly (string | Plugin | PluginEntry)[];
  /** Guards to apply. */
  readonly packs?: readonly (string | Pack | PackEntry)[];
  /** Resolves name conflicts between plugins: from a tool or command name, with its prefix, to the name of a plugin. */
  readonly winners?: Readonly<Record<string, string>>;
  /** Folder of tool files, relative to the configuration. Default `./plugins`, if it exists. */
  readonly tools?: string;
  /** Also load tools from subfolders. Default false. */
  readonly subfolders?: boolean;
  /** Require a lock. Default false: a lock is enforced only if it exists. */
  readonly locked?: boolean;
  /** The weakest allowed isolation of tool files. Default `subprocess`. */
  readonly isolation?: ConfigIsolation;
  /** `offline`, `script:<file>`, `<provider>:<model>` or `<plugin>/<model>`. Default `offline`. */
  readonly model?: string;
  /** Only these tools may run. Names as the model sees them; an empty list allows none. */
  readonly allowTools?: readonly string[];
  /** These tools never run. Names as the model sees them. */
  readonly denyTools?: readonly string[];
  /** Calls that do this are denied: `{ reads: 'secrets' }`. */
  readonly deny?: readonly FactRule[];
  /** A person is asked about calls that do this. */
  readonly ask?: readonly FactRule[];
  /** Exceptions from `ask` of the same file. They lift nothing else. */
  readonly allow?: readonly FactRule[];
  readonly limits?: ConfigLimits;
}

/** A pack that a workspace adds to those of the host. */
export interface WorkspacePackEntry extends Omit<PackEntry, 'pack' | 'id'> {
  /** A pack that the host uses or that one of its plugins offers: its name, `plugin/pack`, or the entry in the host's configuration. */
  readonly pack: string;
}

/** The content of a workspace's `holdfast.policy.json` or `.yaml`. Plain data; it can only restrict. */
export interface WorkspaceConfig {
  /** For editors. */
  readonly $schema?: string;
  readonly packs?: readonly (string | WorkspacePackEntry)[];
  readonly locked?: boolean;
  readonly isolation?: ConfigIsolation;
  readonly allowTools?: readonly string[];
  readonly denyTools?: readonly string[];
  readonly deny?: readonly FactRule[];
  readonly ask?: readonly FactRule[];
  readonly limits?: ConfigLimits;
}

/** The sources of configuration, in ascending precedence; `workspace` may only restrict. */
export type ConfigLayerName = 'default' | 'host' | 'workspace' | 'command line';

/** The origin of a value. */
export interface ConfigOrigin {
  readonly layer: ConfigLayerName;
  /** For display; absent if the value does not come from a file. */
  readonly file?: string;
  /** The line in the file, if known: that of a rule. */
  readonly line?: number;
}

/** The configuration of one source, already checked by `defineConfig` or by the code that read it. */
export type ConfigLayer = { readonly file?: string; readonly lines?: RuleLines } & (
  | { readonly layer: 'host' | 'command line'; readonly config: HoldfastConfig }
  | { readonly layer: 'workspace'; readonly config: WorkspaceConfig }
);

/** A value with its origin. */
export interface EffectiveValue<Value> {
  readonly value: Value;
  readonly origin: ConfigOrigin;
}

/** The rules of one layer. */
export interface EffectiveRules extends EffectiveValue<FactRules> {
  /** The lines of the rules in the file, if known. */
  readonly lines?: RuleLines;
}

/** A list that several layers may have narrowed: every layer here contains all remaining names. */
export interface EffectiveList {
  readonly value: readonly string[];
  readonly origins: readonly ConfigOrigin[];
}

/** A setting that was not applied. */
export interface PassedOver {
  /** E.g. `limits.maxCalls`. */
  readonly key: string;
  readonly value: Json;
  readonly origin: ConfigOrigin;
  /** `looser`: less strict than the host, from a layer that may only restrict; `replaced`: by the command line. */
  readonly reason: 'looser' | 'replaced';
}

/** The effective configuration with the origin of each value. */
export interface EffectiveConfig {
  readonly plugins: readonly EffectiveValue<PluginEntry>[];
  /** With origin `workspace`, `pack` has the form of `WorkspacePackEntry`. */
  readonly packs: readonly EffectiveValue<PackEntry>[];
  readonly winners: ReadonlyMap<string, EffectiveValue<string>>;
  /** `undefined`: `./plugins`, if it exists. */
  readonly tools: EffectiveValue<string> | undefined;
  readonly subfolders: EffectiveValue<boolean>;
  readonly locked: EffectiveValue<boolean>;
  readonly isolation: EffectiveValue<ConfigIsolation>;
  readonly model: EffectiveValue<string>;
  /** `undefined`: all tools. */
  readonly allowTools: EffectiveList | undefined;
  readonly denyTools: readonly EffectiveValue<string>[];
  /** The rules of each layer that has any: all of them hold. */
  readonly rules: readonly EffectiveRules[];
  /** An absent key means no limit. */
  readonly limits: { readonly [Key in keyof ConfigLimits]?: EffectiveValue<number> };
  readonly passedOver: readonly PassedOver[];
}

/** A value for display, with its origin. */
export interface ConfigRow {
  /** E.g. `limits.maxCalls`; lists have one row per item. */
  readonly key: string;
  readonly value: Json;
  readonly origins: readonly ConfigOrigin[];
}

/** Lists the effective configuration for display. Plugin options may contain secrets, so only their names are included. */
export function listConfigValues(config: EffectiveConfig): readonly ConfigRow[] {
  const { plugins, packs, winners, allowTools, denyTools, rules, limits } = config;
  const one = (key: string, found: EffectiveValue<Json> | undefined): readonly ConfigRow[] =>
    found === undefined ? [] : [{ key, value: found.value, origins: [found.origin] }];
  return [
    ...plugins.flatMap(({ value, origin }) => one('plugins', { value: showPlugin(value), origin })),
    ...packs.flatMap(({ value, origin }) => one('packs', { value: showPack(value), origin })),
    ...within('winners', winners),
    ...(['tools', 'subfolders', 'locked', 'isolation', 'model'] as const).flatMap((key) => one(key, config[key])),
    ...(allowTools === undefined ? [] : [{ key: 'allowTools', ...allowTools }]),
    ...denyTools.flatMap((denied) => one('denyTools', denied)),
    ...rules.flatMap(listRuleRows),
    ...within('limits', Object.entries(limits)),
  ];
}

/** One row a rule: `deny.reads` with `secrets`. */
export function listRules(rules: FactRules): readonly Pick<ConfigRow, 'key' | 'value'>[] {
  return listRuleRows({ value: rules, origin: { layer: 'default' } }).map(({ key, value }) => ({ key, value }));
}

function listRuleRows({ value: rules, origin, lines }: EffectiveRules): readonly ConfigRow[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((answer) =>
    (rules[answer] ?? []).map((rule, index) => {
      const [key, value] = describeRule(rule);
      const line = lines?.get(`${answer}[${index}]`);
      return { key: `${answer}.${key}`, value, origins: [line === undefined ? origin : { ...origin, line }] };
    }),
  );
}

function within(key: string, entries: Iterable<readonly [string, EffectiveValue<Json>]>): readonly ConfigRow[] {
  return [...entries].map(([name, { value, origin }]) => ({ key: `${key}.${name}`, value, origins: [origin] }));
}

/** Formats an entry as in a configuration; plugins and packs passed as values by name and version. */
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

/** A name in a list of tools that does not match any tool. */
export interface UnknownToolName {
  readonly key: 'allowTools' | 'denyTools';
  readonly name: string;
  readonly origin: ConfigOrigin;
}

export interface ConfigPolicies {
  /** With ids such as `config-allow-tools` and `config-host-deny-tools`, so that a denial names its source. */
  readonly policies: readonly Policy[];
  /** Report these to the host: a misspelled name in `denyTools` denies nothing. */
  readonly unknown: readonly UnknownToolName[];
}

/** Converts the tool lists and the rules to policies; the rules judge facts, and deny calls that have none. `toolNames` are the tools of the run; other listed names are returned as `unknown`. */
export function configPolicies(
  { allowTools: allowed, denyTools: denied, rules }: Pick<EffectiveConfig, 'allowTools' | 'denyTools' | 'rules'>,
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
  const judging = nameRules(rules).map(({ id, value, origin, lines }) =>
    factPolicy(value, { id, source: origin.file ?? origin.layer, lines }),
  );
  return { policies: [...denying, ...allowing, ...judging], unknown };
}

/** The rules of a layer, with the id of their policy. */
export interface NamedRules extends EffectiveRules {
  /** `config-host-rules`, `config-workspace-rules`. */
  readonly id: string;
}

export function nameRules(rules: readonly EffectiveRules[]): readonly NamedRules[] {
  return [...Map.groupBy(rules, ({ origin }) => origin.layer)].flatMap(([layer, given]) =>
    given.map((one, index) => ({
      ...one,
      id: `config-${layer.replaceAll(' ', '-')}-rules${index === 0 ? '' : `-${index + 1}`}`,
    })),
  );
}
