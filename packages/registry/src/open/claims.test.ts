import { definePack, defineResource, defineSlice, type Pack, type Plugin } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { budget, commandNamed, denying, namesOf, pluginNamed, pluginOf, sectionOf } from '../resolve/test-plugins.ts';
import { createRegistry } from './create-registry.ts';

function pack(name: string, version = '1.0.0'): Pack {
  const { presets, ...rest } = budget;
  const { recommended, strict } = presets;
  if (recommended === undefined || strict === undefined) throw new Error('definePack demands both');
  return definePack({ ...rest, name, version, presets: { recommended, strict } });
}

function slice(id: string) {
  return defineSlice({ id, kind: 'value', initial: 0, reducers: {} });
}

function resource(name: string) {
  return defineResource({ name, lifetime: 'call', create: () => 1 });
}

test.each([
  ['push', 'push'],
  ['git_push', 'git-push'],
  ['list', 'l1st'],
  ['modern', 'modem'],
  ['g0', 'go'],
  ['__x', 'x'],
])('registry.invalid: name.conflict: two owners of the tools %s and %s', (one, other) => {
  const git = createRegistry().use(pluginOf('git', one));
  const message = (text: string) =>
    expect.objectContaining({
      code: 'registry.invalid',
      reason: 'name.conflict',
      message: expect.stringContaining(text),
    });
  const act = () => git.use(pluginNamed('hg', { tools: pluginOf('hg', other).tools ?? [] }, '2.0.0'));
  // Both owners and both solutions.
  for (const text of ['The plugin `git` 1.0.0 and the plugin `hg` 2.0.0', `\`${other}\``, '`prefix`', 'winners'])
    expect(act).toThrow(message(text));
  expect(namesOf(git.use(pluginOf('hg', other), { prefix: 'hg' }))).toEqual([one, `hg_${other}`]);
});

test('a tool of a section claims its name like any other', () => {
  const git = createRegistry().use(
    pluginNamed('git', {
      sections: [sectionOf('git', { children: [sectionOf('deep', { tools: pluginOf('x', 'push').tools ?? [] })] })],
    }),
  );
  expect(() => git.use(pluginOf('hg', 'push'))).toThrow(
    expect.objectContaining({ code: 'registry.invalid', reason: 'name.conflict' }),
  );
});

test('a prefixed name may conflict with another plugin', () => {
  const registry = createRegistry().use(pluginOf('git', 'hg_push'));
  expect(() => registry.use(pluginOf('hg', 'push'), { prefix: 'hg' })).toThrow(
    expect.objectContaining({ code: 'registry.invalid', reason: 'name.conflict' }),
  );
});

test.each<[string, Plugin, Plugin]>([
  [
    'command',
    pluginNamed('git', { commands: [commandNamed('sync')] }),
    pluginNamed('hg', { commands: [commandNamed('sync')] }),
  ],
  [
    'section',
    pluginNamed('git', { sections: [sectionOf('guide')] }),
    pluginNamed('hg', { sections: [sectionOf('gu1de')] }),
  ],
  ['slice', pluginNamed('git', { slices: [slice('state')] }), pluginNamed('hg', { slices: [slice('state')] })],
  [
    'slice',
    pluginNamed('git', { slices: [slice('state')] }),
    pluginNamed('hg', { sections: [sectionOf('hg', { slices: [slice('state')] })] }),
  ],
  [
    'resource',
    pluginNamed('git', { resources: [resource('client')] }),
    pluginNamed('hg', { resources: [resource('client')] }),
  ],
  ['policy', pluginNamed('git', { policies: [denying('a-b')] }), pluginNamed('git-a', { policies: [denying('b')] })],
])('registry.invalid: name.conflict: %s', (kind, git, hg) => {
  expect(() => createRegistry().use(git).use(hg)).toThrow(
    expect.objectContaining({
      code: 'registry.invalid',
      reason: 'name.conflict',
      message: expect.stringContaining(`the ${kind}`),
    }),
  );
});

test('plugins may share a slice or a resource', () => {
  const shared = { slices: [slice('state')], resources: [resource('client')] };
  const registry = createRegistry().use(pluginNamed('git', shared)).use(pluginNamed('hg', shared));
  expect(registry.slices).toEqual(shared.slices);
  expect([...registry.resources.values()]).toEqual(shared.resources);
});

test('policies of a plugin and of a pack have separate states', () => {
  const registry = createRegistry().use(pluginNamed('team', { policies: [denying('budget-call-budget')] }));
  expect(() => registry.use(budget, { id: 'team-budget' })).toThrow(
    expect.objectContaining({
      code: 'registry.invalid',
      reason: 'name.conflict',
      message: expect.stringContaining('give the pack another `id`'),
    }),
  );
});

test.each([
  ['the same', 'git', 'git'],
  ['one that looks alike', 'git-tools', 'gittools'],
  ['one that looks alike', 'mail', 'mai1'],
])('registry.invalid: plugin.duplicate: %s', (_, one, other) => {
  const registry = createRegistry().use(pluginOf(one));
  const act = () => registry.use(pluginNamed(other, {}, '2.0.0'));
  for (const text of [`\`${one}\` 1.0.0`, `\`${other}\` 2.0.0`]) {
    expect(act).toThrow(
      expect.objectContaining({
        code: 'registry.invalid',
        reason: 'plugin.duplicate',
        message: expect.stringContaining(text),
      }),
    );
  }
});

test('registry.invalid: plugin.duplicate: even if the first is left out', () => {
  const registry = createRegistry().use({ ...pluginOf('git'), holdfast: '^999.0.0' });
  expect(() => registry.use(pluginOf('git'))).toThrow(
    expect.objectContaining({ code: 'registry.invalid', reason: 'plugin.duplicate' }),
  );
});

// E19 of the cases of hostile packs.
test.each<[string, Pack, { readonly id?: string }, string]>([
  ['one pack twice', pack('git-safety'), {}, 'registry.invalid: pack.duplicate'],
  ['two versions of one pack', pack('git-safety', '2.0.0'), {}, 'registry.invalid: pack.duplicate'],
  [
    'two versions of one pack, under another id',
    pack('git-safety', '2.0.0'),
    { id: 'second' },
    'registry.invalid: pack.duplicate',
  ],
  ['a name that looks alike', pack('gitsafety'), { id: 'second' }, 'registry.invalid: pack.duplicate'],
  ['an id that is taken', pack('other'), { id: 'git-safety' }, 'registry.invalid: pack.duplicate'],
  ['an id that looks alike', pack('other'), { id: 'g1t-safety' }, 'registry.invalid: pack.duplicate'],
  ['an id with a slash', pack('other'), { id: 'host/other' }, 'options.invalid'],
  ['an id with a colon', pack('other'), { id: 'policy:other' }, 'options.invalid'],
  ['an id in capitals', pack('other'), { id: 'Other' }, 'options.invalid'],
  ['no id', pack('other'), { id: '' }, 'options.invalid'],
  ['a list for an id', pack('other'), { id: ['other'] as never }, 'options.invalid'],
])('%s is rejected', (_, second, options, code) => {
  const registry = createRegistry().use(pack('git-safety'));
  expect(() => registry.use(second, options)).toThrow(
    expect.toSatisfy((error: { code: string }) => describeCode(error) === code),
  );
});

test('one pack may be used twice with two ids', () => {
  const registry = createRegistry().use(budget).use(budget, { id: 'second', preset: 'strict' });
  expect(registry.policies.map(({ id }) => id)).toEqual(['budget-call-budget', 'second-call-budget']);
  expect(registry.packsInForce).toMatchObject([
    { id: 'budget', preset: 'recommended', observe: false },
    { id: 'second', preset: 'strict', observe: false },
  ]);
});

test('an error in a pack is thrown: nothing runs without a requested guard', () => {
  const registry = createRegistry();
  expect(() => registry.use(budget, { preset: 'off' })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'preset.unknown' }),
  );
  expect(() => registry.use(budget, { config: { maxCalls: 0 } })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config' }),
  );
  const failing: Pack = {
    ...budget,
    policies: () => {
      throw new Error('no policies today');
    },
  };
  expect(() => registry.use(failing)).toThrow('no policies today');
});

test('the preset `observe` is marked as not enforced', () => {
  const tried = createRegistry()
    .use(budget, { preset: 'observe' })
    .use(budget, { id: 'on', preset: 'observe', observe: false });
  expect(tried.packsInForce.map(({ observe }) => observe)).toEqual([true, false]);
});

test('winners: the chosen plugin has the name, in every spelling and lookup', () => {
  const winners = { push: 'git' };
  const git = pluginNamed('git', { tools: pluginOf('git', 'push').tools ?? [], commands: [commandNamed('push')] });
  const hg = pluginNamed('hg', {
    tools: pluginOf('hg', 'pu_sh', 'pull').tools ?? [],
    commands: [commandNamed('pu-sh')],
  });
  for (const order of [
    [git, hg],
    [hg, git],
  ]) {
    const registry = order.reduce((used, plugin) => used.use(plugin), createRegistry({ winners }));
    expect(namesOf(registry).toSorted()).toEqual(['pull', 'push']);
    expect([...registry.commands.keys()]).toEqual(['push']);
    expect(registry.resolve('git/push')?.name).toBe('push');
    expect(registry.resolve('hg/pu_sh')).toBeUndefined();
    expect(registry.problems).toEqual([]);
  }
});

test.each<[string, readonly Plugin[], readonly string[], string]>([
  ['no other plugin has it', [pluginOf('git', 'push')], ['push'], 'no other plugin has'],
  ['no plugin has it', [pluginOf('git', 'tag')], ['tag'], 'no plugin has'],
  ['its owner is missing', [pluginOf('hg', 'push', 'pull')], ['pull'], 'so nothing gets it'],
  [
    'its owner is left out',
    [pluginOf('hg', 'push'), { ...pluginOf('git', 'push'), holdfast: '^999.0.0' }],
    [],
    'so nothing gets it',
  ],
  ['its owner has no such tool', [pluginOf('hg', 'push'), pluginOf('git', 'tag')], ['tag'], 'so nothing gets it'],
])('registry.invalid: winner.unused: %s', (_, plugins, names, says) => {
  const registry = plugins.reduce((used, plugin) => used.use(plugin), createRegistry({ winners: { push: 'git' } }));
  expect(namesOf(registry)).toEqual(names);
  expect(registry.problems).toContainEqual({
    code: 'registry.invalid',
    reason: 'winner.unused',
    message: expect.stringContaining(says),
    plugin: 'git',
  });
});

test('names of object members are ordinary names', () => {
  const winners: Record<string, string> = JSON.parse('{"__proto__": "git", "constructor": "git"}');
  const registry = createRegistry({ winners }).use(pluginOf('git', 'push'));
  expect(registry.problems).toHaveLength(2);
  for (const name of ['__proto__', 'constructor', 'toString', '']) {
    expect(registry.explain(name)).toEqual([]);
    expect(registry.resolve(name)).toBeUndefined();
    expect(registry.resolve(`git/${name}`)).toBeUndefined();
  }
});
