import { definePack, definePlugin, isHoldfastError } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HoldfastConfig } from './config.ts';
import { defineConfig } from './schema.ts';

const git = definePlugin({ name: 'git', version: '1.0.0', description: 'Git.', holdfast: '*' });
const preset = { description: 'As it is.', config: {} };
const shellGuard = definePack({
  name: 'shell-guard',
  version: '1.0.0',
  description: 'Shells.',
  configSchema: jsonSchema({ type: 'object', properties: {} }),
  presets: { recommended: preset, strict: preset },
  policies: () => [],
});

const full: Required<HoldfastConfig> = {
  plugins: [git, '@acme/holdfast-git', './mine.ts#mine', { plugin: git, prefix: 'git', config: { url: ['x'] } }],
  packs: [
    shellGuard,
    '@holdfast/pack-shell',
    'git/git-safety',
    { pack: shellGuard, id: 'mine', preset: 'strict', config: { a: 1 }, observe: false },
  ],
  winners: { push: 'git' },
  tools: './plugins',
  subfolders: true,
  locked: true,
  isolation: 'sandbox',
  model: 'offline',
  allowTools: [],
  denyTools: ['push'],
  deny: [{ reads: 'secrets' }],
  ask: [{ runs: 'git push' }],
  allow: [{ runs: 'git push origin main' }],
  limits: { maxRounds: 1, maxCalls: 2, maxTokens: 3, timeoutMs: 4, approvalTimeoutMs: 5 },
};

/** The problems that `defineConfig` reports. */
function problemsOf(config: unknown): readonly string[] {
  try {
    // Configurations may be untyped.
    defineConfig(config as HoldfastConfig);
    return [];
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'config.invalid' });
    const { data } = thrown as { readonly data: { readonly problems: readonly { path: string; message: string }[] } };
    return data.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

test('accepts every key of the type and returns a frozen copy', () => {
  const taken = defineConfig(full);
  expect(taken).toEqual(full);
  expect(taken).not.toBe(full);
  expect(taken.plugins?.[0]).toBe(git);
  expect(Object.isFrozen(taken.limits)).toBe(true);
  expect(() => Object.assign(taken.limits ?? {}, { maxCalls: 1_000 })).toThrow(TypeError);
});

test('everything is optional, and `undefined` counts as absent', () => {
  expect(defineConfig({})).toEqual({});
  const config: unknown = { tools: undefined, limits: { maxCalls: undefined }, winners: { push: undefined } };
  expect(Object.keys(defineConfig(config as HoldfastConfig))).toEqual(['limits', 'winners']);
});

test('an unknown key is reported with the known keys, which match the type', () => {
  const [problem = ''] = problemsOf({ somethingElseAltogether: 1 });
  const keys = problem.replace(/^.*known keys: /, '').split(', ');
  expect(keys.sort()).toEqual(Object.keys(full).sort());
});

test('config.invalid: all problems are reported at once, with path and nearest name', () => {
  const config = {
    toolz: './plugins',
    denytools: ['push'],
    locked: 'yes',
    limits: { maxCalls: 0, maxCals: 3 },
    plugins: [{ plugin: 'Bad Name', prefx: 'git' }, {}],
  };
  expect(new Set(problemsOf(config))).toEqual(
    new Set([
      'denytools: unknown key; did you mean `denyTools`?',
      'limits.maxCals: unknown key; did you mean `maxCalls`?',
      'limits.maxCalls: must be an integer of at least 1, got 0',
      'locked: must be true or false, got "yes"',
      'plugins[0].plugin: must be a plugin, a package name or a path that starts with `./`, with `#export` if the module exports several, got "Bad Name"',
      'plugins[0].prefx: unknown key; did you mean `prefix`?',
      'plugins[1].plugin: is missing',
      'toolz: unknown key; did you mean `tools`?',
    ]),
  );
});

const wrong: readonly unknown[] = [
  null,
  true,
  7,
  Number.NaN,
  1n,
  'text!',
  Symbol('s'),
  () => 1,
  new Date(0),
  new Map(),
  [[]],
  [null],
  { a: 1 },
];
const right: Readonly<Record<string, (value: unknown) => boolean>> = {
  winners: () => false,
  subfolders: (value) => value === true,
  locked: (value) => value === true,
  tools: (value) => value === 'text!',
  model: (value) => value === 'text!',
};
const cases = Object.keys(full).flatMap((key) =>
  wrong.filter((value) => right[key]?.(value) !== true).map((value) => ({ key, value })),
);

test.each(cases)('config.invalid: `$key` set to $value', ({ key, value }) => {
  expect(problemsOf({ [key]: value }).every((problem) => problem.startsWith(key))).toBe(true);
  expect(problemsOf({ [key]: value })).not.toEqual([]);
});

test.each([
  ['limits.maxRounds', { limits: { maxRounds: 1.5 } }],
  ['limits.timeoutMs', { limits: { timeoutMs: Number.POSITIVE_INFINITY } }],
  ['limits.maxTokens', { limits: { maxTokens: '3' } }],
  ['limits.maxCalls', { limits: { maxCalls: 2 ** 53 } }],
  ['denyTools[1]', { denyTools: ['push', 'constructor'] }],
  ['denyTools[0]', { denyTools: ['Push'] }],
  ['allowTools[0]', { allowTools: [''] }],
  ['winners.constructor', { winners: { constructor: 'git' } }],
  ['winners.push', { winners: { push: 'Git Plugin' } }],
  ['winners.push', { winners: { push: {} } }],
  ['isolation', { isolation: 'none' }],
  ['tools', { tools: ' ' }],
  ['plugins[0]', { plugins: ['git/git-safety'] }],
  ['plugins[0].plugin', { plugins: [{ plugin: shellGuard }] }],
  ['plugins[0].config', { plugins: [{ plugin: 'git', config: { when: new Date(0) } }] }],
  ['plugins[0].config', { plugins: [{ plugin: 'git', config: [] }] }],
  ['packs[0].pack', { packs: [{ pack: git }] }],
  ['packs[0].observe', { packs: [{ pack: 'x', observe: 1 }] }],
  ['packs[0].id', { packs: [{ pack: 'x', id: 'a/b' }] }],
  ['packs[0].preset', { packs: [{ pack: 'x', preset: 3 }] }],
  ['packs[0].__proto__', { packs: [JSON.parse('{"__proto__": {"pack": "x"}}') as unknown] }],
  ['constructor', JSON.parse('{"constructor": {}}') as unknown],
  ['__proto__', JSON.parse('{"__proto__": {"locked": false}}') as unknown],
])('config.invalid: at `%s`', (path, config) => {
  expect(problemsOf(config).map((problem) => problem.split(': ')[0])).toEqual([path]);
});

test.each([
  ['null', null],
  ['nothing', undefined],
  ['text', 'plugins: []'],
  ['a list', []],
  ['a function', () => ({})],
  ['an instance', new (class Config {})()],
  ['a promise', Promise.resolve({})],
  ['a module', Object.assign(Object.create({ inherited: 1 }) as object, { locked: true })],
])('config.invalid: a configuration that is %s', (_, config) => {
  expect(problemsOf(config)).toHaveLength(1);
});

test('hostile values end quickly as `config.invalid`', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['limits'] = cyclic;
  const long: unknown[] = Array.from({ length: 200_000 }, () => 'push');
  const throwing = {
    get limits(): unknown {
      throw new Error('caught you');
    },
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const trapped = new Proxy({}, { ownKeys: () => [Symbol.iterator, 'x'] });
  expect(problemsOf(cyclic)).toEqual([expect.stringContaining('is nested too deeply, or circular')]);
  expect(problemsOf({ denyTools: long })).toEqual([expect.stringContaining('exceeds the limit')]);
  expect(problemsOf({ denyTools: new Array(2 ** 32 - 1) })).toEqual([expect.stringContaining('exceeds the limit')]);
  expect(problemsOf(throwing)).toEqual(['limits: cannot be read: caught you']);
  expect(problemsOf(proxy)).toHaveLength(1);
  expect(problemsOf({ plugins: [proxy] })).toHaveLength(1);
  expect(problemsOf(trapped)).toEqual([]);
});

test('each property is read once, so it cannot change', () => {
  let reads = 0;
  const config = {
    get isolation(): unknown {
      reads += 1;
      return reads === 1 ? 'sandbox' : 'in-process';
    },
  };
  expect(defineConfig(config as HoldfastConfig)).toEqual({ isolation: 'sandbox' });
});

test('a thousand problems give a short message', () => {
  const config = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key-${index}`, index]));
  expect(() => defineConfig(config as HoldfastConfig)).toThrow(/; and 980 more\.$/);
});

test('property: any value is accepted or rejected with `config.invalid`', () => {
  const value = fc.oneof(fc.anything(), fc.record({ plugins: fc.anything(), limits: fc.object() }), fc.object());
  fc.assert(
    fc.property(value, (config) => {
      try {
        expect(Object.isFrozen(defineConfig(config as HoldfastConfig))).toBe(true);
      } catch (thrown) {
        expect(isHoldfastError(thrown) && thrown.code).toBe('config.invalid');
      }
    }),
  );
});
