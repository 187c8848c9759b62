import { definePack, definePlugin } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ConfigLayer,
  type ConfigLayerName,
  type EffectiveConfig,
  type EffectiveValue,
  type HoldfastConfig,
  listConfigValues,
  type WorkspaceConfig,
} from './config.ts';
import { mergeConfig } from './merge.ts';

const host = (config: HoldfastConfig): ConfigLayer => ({ layer: 'host', file: 'holdfast.config.ts', config });
const workspace = (config: WorkspaceConfig): ConfigLayer => ({ layer: 'workspace', file: 'w/p.json', config });
const line = (config: HoldfastConfig): ConfigLayer => ({ layer: 'command line', config });

const git = definePlugin({ name: 'git', version: '1.0.0', description: 'Git.', holdfast: '*' });
const preset = { description: 'As it is.', config: {} };
const shellGuard = definePack({
  name: 'shell-guard',
  version: '2.0.0',
  description: 'Shells.',
  configSchema: jsonSchema({ type: 'object', properties: {} }),
  presets: { recommended: preset, strict: preset },
  policies: () => [],
});

test('defaults are those of the runtime', () => {
  expect(mergeConfig([])).toEqual({
    plugins: [],
    packs: [],
    winners: new Map(),
    tools: undefined,
    subfolders: { value: false, origin: { layer: 'default' } },
    locked: { value: false, origin: { layer: 'default' } },
    isolation: { value: 'subprocess', origin: { layer: 'default' } },
    model: { value: 'offline', origin: { layer: 'default' } },
    allowTools: undefined,
    denyTools: [],
    limits: {
      maxRounds: { value: 32, origin: { layer: 'default' } },
      approvalTimeoutMs: { value: 86_400_000, origin: { layer: 'default' } },
    },
    rules: [],
    passedOver: [],
  });
});

type Single = 'locked' | 'isolation' | 'maxRounds' | 'maxCalls' | 'maxTokens' | 'timeoutMs' | 'approvalTimeoutMs';

interface Row {
  readonly key: Single;
  readonly host?: unknown;
  readonly workspace?: unknown;
  readonly line?: unknown;
  readonly value: unknown;
  readonly layer: ConfigLayerName;
  /** The layer whose value is not applied, and the reason. */
  readonly lost?: readonly [ConfigLayerName, 'looser' | 'replaced'];
}

function withKey(key: Single, value: unknown): WorkspaceConfig {
  if (value === undefined) return {};
  const config: unknown = key === 'locked' || key === 'isolation' ? { [key]: value } : { limits: { [key]: value } };
  return config as WorkspaceConfig;
}

const looser = ['workspace', 'looser'] as const;
const replaced = ['workspace', 'replaced'] as const;

const limitRows = (['maxRounds', 'maxCalls', 'maxTokens', 'timeoutMs', 'approvalTimeoutMs'] as const).flatMap(
  (key): readonly Row[] => [
    { key, host: 10, value: 10, layer: 'host' },
    { key, workspace: 5, value: 5, layer: 'workspace' },
    { key, host: 10, workspace: 5, value: 5, layer: 'workspace' },
    { key, host: 10, workspace: 10, value: 10, layer: 'host' },
    { key, host: 10, workspace: 11, value: 10, layer: 'host', lost: looser },
    { key, host: 10, line: 20, value: 20, layer: 'command line' },
    { key, host: 10, line: 5, value: 5, layer: 'command line' },
    { key, host: 10, workspace: 5, line: 20, value: 20, layer: 'command line', lost: replaced },
    { key, host: 10, workspace: 5, line: 5, value: 5, layer: 'command line' },
    { key, workspace: 5, line: 1, value: 1, layer: 'command line', lost: replaced },
  ],
);

const rows: readonly Row[] = [
  ...limitRows,
  { key: 'maxRounds', workspace: 100, value: 32, layer: 'default', lost: looser },
  { key: 'maxRounds', host: 100, value: 100, layer: 'host' },
  { key: 'approvalTimeoutMs', workspace: 86_400_001, value: 86_400_000, layer: 'default', lost: looser },
  { key: 'locked', host: true, value: true, layer: 'host' },
  { key: 'locked', workspace: true, value: true, layer: 'workspace' },
  { key: 'locked', workspace: false, value: false, layer: 'default' },
  { key: 'locked', host: true, workspace: false, value: true, layer: 'host', lost: looser },
  { key: 'locked', host: false, workspace: true, value: true, layer: 'workspace' },
  { key: 'locked', host: true, line: false, value: false, layer: 'command line' },
  { key: 'locked', workspace: true, line: false, value: false, layer: 'command line', lost: replaced },
  { key: 'isolation', host: 'in-process', value: 'in-process', layer: 'host' },
  { key: 'isolation', workspace: 'in-process', value: 'subprocess', layer: 'default', lost: looser },
  { key: 'isolation', workspace: 'worker', value: 'subprocess', layer: 'default', lost: looser },
  { key: 'isolation', workspace: 'sandbox', value: 'sandbox', layer: 'workspace' },
  { key: 'isolation', host: 'in-process', workspace: 'worker', value: 'worker', layer: 'workspace' },
  { key: 'isolation', host: 'sandbox', workspace: 'subprocess', value: 'sandbox', layer: 'host', lost: looser },
  { key: 'isolation', host: 'sandbox', line: 'in-process', value: 'in-process', layer: 'command line' },
  { key: 'isolation', workspace: 'sandbox', line: 'worker', value: 'worker', layer: 'command line', lost: replaced },
];

test.each(rows)('$key: host $host, workspace $workspace, command line $line: $value', (row) => {
  const { key, value, layer, lost } = row;
  const merged = mergeConfig([
    line(withKey(key, row.line)),
    workspace(withKey(key, row.workspace)),
    host(withKey(key, row.host)),
  ]);
  const chosen: EffectiveValue<unknown> | undefined =
    key === 'locked' || key === 'isolation' ? merged[key] : merged.limits[key];
  expect(chosen?.value).toBe(value);
  expect(chosen?.origin.layer).toBe(layer);
  expect(merged.passedOver.map(({ origin, reason }) => [origin.layer, reason])).toEqual(
    lost === undefined ? [] : [lost],
  );
  const place = key === 'locked' || key === 'isolation' ? key : `limits.${key}`;
  for (const passed of merged.passedOver) expect(passed).toMatchObject({ key: place, value: row.workspace });
});

test.each(['tools', 'model', 'subfolders'] as const)(
  '%s: the last host layer wins, a workspace cannot set it',
  (key) => {
    const [low, high] = key === 'subfolders' ? [true, false] : ['./low', './high'];
    const from = (value: unknown): HoldfastConfig => ({ [key]: value }) as HoldfastConfig;
    const foreign = workspace(from(high) as WorkspaceConfig);
    expect(mergeConfig([host(from(low)), foreign])[key]).toEqual({
      value: low,
      origin: { layer: 'host', file: 'holdfast.config.ts' },
    });
    expect(mergeConfig([host(from(low)), line(from(high))])[key]).toEqual({
      value: high,
      origin: { layer: 'command line' },
    });
    expect(mergeConfig([foreign])[key]?.origin.layer).not.toBe('workspace');
  },
);

test.each<{
  readonly host?: readonly string[];
  readonly workspace?: readonly string[];
  readonly line?: readonly string[];
  readonly value: readonly string[] | undefined;
  readonly layers: readonly ConfigLayerName[];
  readonly lost?: readonly (readonly [readonly string[], string])[];
}>([
  { host: ['a', 'b', 'a'], value: ['a', 'b'], layers: ['host'] },
  { host: [], value: [], layers: ['host'] },
  { workspace: ['a'], value: ['a'], layers: ['workspace'] },
  { workspace: [], value: [], layers: ['workspace'] },
  { host: ['a', 'b'], workspace: ['b'], value: ['b'], layers: ['host', 'workspace'] },
  {
    host: ['a'],
    workspace: ['a', 'b', 'c'],
    value: ['a'],
    layers: ['host', 'workspace'],
    lost: [[['b', 'c'], 'looser']],
  },
  { host: ['a'], workspace: ['b'], value: [], layers: ['host', 'workspace'], lost: [[['b'], 'looser']] },
  { host: ['a'], line: ['b'], value: ['b'], layers: ['command line'] },
  { host: ['a'], workspace: ['a'], line: ['b'], value: ['b'], layers: ['command line'], lost: [[['a'], 'replaced']] },
])(
  'allowTools: host $host, workspace $workspace, command line $line: $value',
  ({ value, layers, lost = [], ...given }) => {
    const toConfig = (names: readonly string[] | undefined) => (names === undefined ? {} : { allowTools: names });
    const merged = mergeConfig([
      host(toConfig(given.host)),
      workspace(toConfig(given.workspace)),
      line(toConfig(given.line)),
    ]);
    expect(merged.allowTools?.value).toEqual(value);
    expect(merged.allowTools?.origins.map(({ layer }) => layer)).toEqual(layers);
    expect(merged.passedOver.map((passed) => [passed.value, passed.reason])).toEqual(lost);
  },
);

test('denied tools of all layers add up, named after the first layer', () => {
  const merged = mergeConfig([
    host({ denyTools: ['push', 'push'] }),
    workspace({ denyTools: ['push', 'deploy'] }),
    line({ denyTools: ['deploy', 'rm'] }),
  ]);
  expect(merged.denyTools.map(({ value, origin }) => [value, origin.layer])).toEqual([
    ['push', 'host'],
    ['deploy', 'workspace'],
    ['rm', 'command line'],
  ]);
});

test('plugins, packs and winners: the command line adds; a workspace adds packs and cannot remove any', () => {
  const foreign: unknown = {
    plugins: ['evil'],
    winners: { push: 'evil' },
    packs: [{ pack: 'shell-guard', preset: 'off' }],
  };
  const merged = mergeConfig([
    host({ plugins: [git, './mine.ts'], packs: [shellGuard], winners: { push: 'git', pull: 'git' } }),
    workspace(foreign as WorkspaceConfig),
    line({ plugins: [{ plugin: 'more', prefix: 'm' }], packs: ['@acme/pack'], winners: { pull: 'more' } }),
  ]);
  expect(merged.plugins.map(({ value }) => value)).toEqual([
    { plugin: git },
    { plugin: './mine.ts' },
    { plugin: 'more', prefix: 'm' },
  ]);
  expect(merged.packs.map(({ value, origin }) => [value, origin.layer])).toEqual([
    [{ pack: shellGuard }, 'host'],
    [{ pack: 'shell-guard', preset: 'off' }, 'workspace'],
    [{ pack: '@acme/pack' }, 'command line'],
  ]);
  expect([...merged.winners].map(([name, { value, origin }]) => [name, value, origin.layer])).toEqual([
    ['push', 'git', 'host'],
    ['pull', 'more', 'command line'],
  ]);
});

test('the effective configuration can be printed with origins, except plugin options', () => {
  const merged = mergeConfig([
    host({
      plugins: [{ plugin: git, prefix: 'g', config: { token: 'secret' } }],
      packs: [{ pack: shellGuard, config: { depth: 2 } }],
      winners: { push: 'git' },
      tools: './t',
      allowTools: ['push'],
    }),
    workspace({ denyTools: ['rm'], allowTools: ['push'] }),
  ]);
  const rows = listConfigValues(merged);
  expect(JSON.stringify(rows)).not.toContain('secret');
  expect(rows.map(({ key, value, origins }) => [key, value, origins.map(({ layer }) => layer).join('+')])).toEqual([
    ['plugins', { plugin: 'git@1.0.0', prefix: 'g', options: ['token'] }, 'host'],
    ['packs', { pack: 'shell-guard@2.0.0', config: { depth: 2 } }, 'host'],
    ['winners.push', 'git', 'host'],
    ['tools', './t', 'host'],
    ['subfolders', false, 'default'],
    ['locked', false, 'default'],
    ['isolation', 'subprocess', 'default'],
    ['model', 'offline', 'default'],
    ['allowTools', ['push'], 'host+workspace'],
    ['denyTools', 'rm', 'workspace'],
    ['limits.maxRounds', 32, 'default'],
    ['limits.approvalTimeoutMs', 86_400_000, 'default'],
  ]);
});

const names = fc.subarray(['a', 'b', 'c', 'd', 'e']);
const limit = fc.integer({ min: 1, max: 40 });
const anyWorkspace: fc.Arbitrary<WorkspaceConfig> = fc.record(
  {
    denyTools: names,
    allowTools: names,
    locked: fc.boolean(),
    isolation: fc.constantFrom('in-process', 'worker', 'subprocess', 'sandbox'),
    limits: fc.record(
      { maxRounds: limit, maxCalls: limit, maxTokens: limit, timeoutMs: limit, approvalTimeoutMs: limit },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const layers = fc.record({
  hosts: fc.option(anyWorkspace, { nil: undefined }),
  lines: fc.option(anyWorkspace, { nil: undefined }),
  workspaces: fc.array(anyWorkspace, { minLength: 1, maxLength: 3 }),
});
const tiers = ['in-process', 'worker', 'subprocess', 'sandbox'];

function allowedBy({ allowTools, denyTools }: EffectiveConfig): readonly string[] {
  const denied = new Set(denyTools.map(({ value }) => value));
  return ['a', 'b', 'c', 'd', 'e'].filter((name) => !denied.has(name) && (allowTools?.value.includes(name) ?? true));
}

test('property: a workspace never allows more than the host', () => {
  fc.assert(
    fc.property(layers, fc.boolean(), ({ hosts, lines, workspaces }, turned) => {
      const own = [...(hosts === undefined ? [] : [host(hosts)]), ...(lines === undefined ? [] : [line(lines)])];
      const all = [...own, ...workspaces.map(workspace)];
      const before = mergeConfig(own);
      const after = mergeConfig(turned ? all.toReversed() : all);
      expect(allowedBy(before)).toEqual(expect.arrayContaining([...allowedBy(after)]));
      expect(tiers.indexOf(after.isolation.value)).toBeGreaterThanOrEqual(tiers.indexOf(before.isolation.value));
      expect(after.locked.value || !before.locked.value).toBe(true);
      for (const [key, { value }] of Object.entries(before.limits)) {
        const entry = Object.entries(after.limits).find(([name]) => name === key);
        expect(entry?.[1].value).toBeLessThanOrEqual(value);
      }
      expect(after.plugins).toEqual(before.plugins);
    }),
  );
});

test('the origin of a value is a layer that contains it', () => {
  fc.assert(
    fc.property(layers, ({ hosts, lines, workspaces }) => {
      const all = [
        ...(hosts === undefined ? [] : [host(hosts)]),
        ...(lines === undefined ? [] : [line(lines)]),
        ...workspaces.map((config, index) => ({ ...workspace(config), file: String(index) })),
      ];
      for (const { key, value, origins } of listConfigValues(mergeConfig(all))) {
        for (const origin of origins.filter(({ layer }) => layer !== 'default')) {
          const config = all.find(({ layer, file }) => layer === origin.layer && file === origin.file)?.config ?? {};
          const held: unknown = key
            .split('.')
            .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], config);
          if (key === 'denyTools') expect(held).toContain(value);
          else if (key === 'allowTools') expect(held).toEqual(expect.arrayContaining(value as string[]));
          else expect(held).toBe(value);
        }
      }
    }),
  );
});

test('settings of a workspace are either applied or reported', () => {
  fc.assert(
    fc.property(layers, ({ hosts = {}, workspaces: [asked = {}] }) => {
      const merged = mergeConfig([host(hosts), workspace(asked)]);
      const lost = new Set(merged.passedOver.map(({ key }) => key));
      for (const [key, value] of Object.entries(asked.limits ?? {}))
        expect(Object.entries(merged.limits).find(([name]) => name === key)?.[1].value === value).toBe(
          !lost.has(`limits.${key}`),
        );
      if (asked.isolation !== undefined)
        expect(merged.isolation.value === asked.isolation).toBe(!lost.has('isolation'));
      if (asked.locked !== undefined) expect(merged.locked.value === asked.locked).toBe(!lost.has('locked'));
      const beyond = (asked.allowTools ?? []).some(
        (name) => !(hosts.allowTools ?? asked.allowTools ?? []).includes(name),
      );
      expect(lost.has('allowTools')).toBe(beyond);
    }),
  );
});
