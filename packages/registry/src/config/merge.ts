import type { Json } from '@holdfast/core';
import { isPack, isPlugin } from '@holdfast/core/internal';
import type { RuleLines } from '@holdfast/facts/rules';
import type {
  ConfigIsolation,
  ConfigLayer,
  ConfigLimits,
  ConfigOrigin,
  EffectiveConfig,
  EffectiveList,
  EffectiveValue,
  HoldfastConfig,
  PassedOver,
} from './config.ts';

/**
 * Merges the layers of host, workspace and command line, in any order. A workspace can only restrict. The command line
 * has the host's rights: its values and its `allowTools` replace others; its `denyTools`, plugins and packs are added.
 */
export function mergeConfig(layers: readonly ConfigLayer[]): EffectiveConfig {
  const all = ranks.flatMap((rank) => layers.filter(({ layer }) => layer === rank).map(toSaying));
  const hosts = all.filter(({ origin }) => origin.layer !== 'workspace');
  const passedOver: PassedOver[] = [];
  return {
    plugins: hosts.flatMap(({ config: { plugins = [] }, origin }) =>
      plugins.map((entry) => ({
        value: typeof entry === 'string' || isPlugin(entry) ? { plugin: entry } : entry,
        origin,
      })),
    ),
    packs: all.flatMap(({ config: { packs = [] }, origin }) =>
      packs.map((entry) => ({ value: typeof entry === 'string' || isPack(entry) ? { pack: entry } : entry, origin })),
    ),
    winners: new Map(
      hosts.flatMap(({ config: { winners = {} }, origin }) =>
        Object.entries(winners).map(([name, value]) => [name, { value, origin }] as const),
      ),
    ),
    tools: valuesOf(hosts, ({ tools }) => tools).at(-1),
    subfolders: valuesOf(hosts, ({ subfolders }) => subfolders).at(-1) ?? unset(false),
    model: valuesOf(hosts, ({ model }) => model).at(-1) ?? unset('offline'),
    locked: tighten('locked', [unset(false), ...valuesOf(all, ({ locked }) => locked)], {
      isTighter: (value) => value,
      passedOver,
    }),
    isolation: tighten(
      'isolation',
      [unset<ConfigIsolation>('subprocess'), ...valuesOf(all, ({ isolation }) => isolation)],
      { isTighter: (value, than) => tiers.indexOf(value) > tiers.indexOf(than), passedOver },
    ),
    allowTools: mergeAllowed(
      valuesOf(all, ({ allowTools }) => allowTools),
      passedOver,
    ),
    denyTools: mergeDenied(valuesOf(all, ({ denyTools }) => denyTools)),
    rules: all.flatMap(({ config: { deny = [], ask = [], allow = [] }, origin, lines }) =>
      deny.length + ask.length + allow.length === 0
        ? []
        : [{ value: { deny, ask, allow }, origin, ...(lines === undefined ? {} : { lines }) }],
    ),
    limits: mergeLimits(
      valuesOf(all, ({ limits }) => limits),
      passedOver,
    ),
    passedOver,
  };
}

const ranks = ['host', 'workspace', 'command line'] as const;
const tiers: readonly ConfigIsolation[] = ['in-process', 'worker', 'subprocess', 'sandbox'];
/** The runtime's defaults, so that a workspace cannot exceed them; a test compares the two. */
const limitDefaults: ConfigLimits = { maxRounds: 32, approvalTimeoutMs: 86_400_000 };
const limitKeys = ['maxRounds', 'maxCalls', 'maxTokens', 'timeoutMs', 'approvalTimeoutMs'] as const;

interface Saying {
  readonly config: HoldfastConfig;
  readonly origin: ConfigOrigin;
  readonly lines: RuleLines | undefined;
}

function toSaying({ layer, file, config, lines }: ConfigLayer): Saying {
  return { config, origin: file === undefined ? { layer } : { layer, file }, lines };
}

function unset<Value>(value: Value): EffectiveValue<Value> {
  return { value, origin: { layer: 'default' } };
}

/** The values of the layers that set the key. */
function valuesOf<Value>(
  sayings: readonly Saying[],
  read: (config: HoldfastConfig) => Value | undefined,
): readonly EffectiveValue<Value>[] {
  return sayings.flatMap(({ config, origin }) => {
    const value = read(config);
    return value === undefined ? [] : [{ value, origin }];
  });
}

interface Tightening<Value> {
  readonly isTighter: (value: Value, than: Value) => boolean;
  readonly passedOver: PassedOver[];
}

/** The last value wins; a workspace's value counts only if it is stricter. */
function tighten<Value extends Json>(
  key: string,
  [first, ...others]: readonly [EffectiveValue<Value>, ...EffectiveValue<Value>[]],
  { isTighter, passedOver }: Tightening<Value>,
): EffectiveValue<Value> {
  let chosen = first;
  for (const next of others) {
    const isHost = next.origin.layer !== 'workspace';
    const lost = isHost || isTighter(next.value, chosen.value) ? chosen : next;
    // A host may replace its own values; replacing a stricter one of a workspace is reported.
    if (lost.origin.layer === 'workspace' && next.value !== chosen.value)
      passedOver.push({ key, ...lost, reason: isHost ? 'replaced' : 'looser' });
    if (lost === chosen) chosen = next;
  }
  return chosen;
}

function mergeLimits(
  said: readonly EffectiveValue<ConfigLimits>[],
  passedOver: PassedOver[],
): EffectiveConfig['limits'] {
  const all = [unset(limitDefaults), ...said];
  const merged = limitKeys.flatMap((key) => {
    const [first, ...others] = all.flatMap(({ value: { [key]: value }, origin }) =>
      value === undefined ? [] : [{ value, origin }],
    );
    if (first === undefined) return [];
    const isTighter = (value: number, than: number): boolean => value < than;
    const place = `limits.${key}`;
    return [[key, tighten(place, [first, ...others], { isTighter, passedOver })] as const];
  });
  return Object.fromEntries(merged);
}

function mergeAllowed(
  said: readonly EffectiveValue<readonly string[]>[],
  passedOver: PassedOver[],
): EffectiveList | undefined {
  const key = 'allowTools';
  const start = Math.max(
    0,
    said.findLastIndex(({ origin }) => origin.layer !== 'workspace'),
  );
  for (const lost of said.slice(0, start))
    if (lost.origin.layer === 'workspace') passedOver.push({ key, ...lost, reason: 'replaced' });
  const [first, ...narrower] = said.slice(start);
  if (first === undefined) return undefined;
  let chosen: EffectiveList = { value: [...new Set(first.value)], origins: [first.origin] };
  for (const { value, origin } of narrower) {
    const wanted = new Set(value);
    const before = new Set(chosen.value);
    const beyond = [...wanted].filter((name) => !before.has(name));
    if (beyond.length > 0) passedOver.push({ key, value: beyond, origin, reason: 'looser' });
    chosen = { value: chosen.value.filter((name) => wanted.has(name)), origins: [...chosen.origins, origin] };
  }
  return chosen;
}

function mergeDenied(said: readonly EffectiveValue<readonly string[]>[]): readonly EffectiveValue<string>[] {
  const denied = new Map<string, EffectiveValue<string>>();
  for (const { value, origin } of said) {
    for (const name of value) if (!denied.has(name)) denied.set(name, { value: name, origin });
  }
  return [...denied.values()];
}
