import { defineSlice } from '@holdfast/core';
import type { ToolOrigin } from '@holdfast/core/types';
import { expect, test } from 'vitest';
import { createRegistry } from '../open/create-registry.ts';
import { budget, commandNamed, denying, pluginNamed, pluginOf, sectionOf, toolNamed } from '../resolve/test-plugins.ts';
import type { Explanation, Registry } from '../resolve/types.ts';

const state = defineSlice({ id: 'git/state', kind: 'value', initial: 0, reducers: {} });
const source = { package: '@acme/git', version: '1.0.0', file: 'node_modules/@acme/git/index.js', digest: 'ab12' };
const git = pluginNamed('git', {
  tools: [toolNamed('push')],
  policies: [denying('order')],
  sections: [sectionOf('guide', { policies: [denying('inner')], slices: [state], children: [sectionOf('more')] })],
  packs: [budget],
  models: [{ name: 'small', description: 'A model.', create: () => Promise.reject(new Error('not here')) }],
  commands: [commandNamed('push')],
});

function shown(registry: Registry, name: string): readonly string[] {
  return registry
    .explain(name)
    .map(
      ({ kind, name: own, inForce, note }) =>
        `${kind} ${own}${inForce ? '' : ' (not in force)'}${note === undefined ? '' : `: ${note}`}`,
    );
}

test("explains a name in force, a plugin's own name, a qualified name and a log name", () => {
  const registry = createRegistry().use(git, { prefix: 'my', source });
  const tool = 'tool my_push: prefixed with `my`';
  const command = 'command my-push: prefixed with `my`';
  expect(shown(registry, 'my_push')).toEqual([tool]);
  expect(shown(registry, 'push')).toEqual([command, tool]);
  expect(shown(registry, 'git/push')).toEqual([command, tool]);
  expect(shown(registry, 'git-order')).toEqual(['policy git-order']);
  expect(shown(registry, 'host/git-order')).toEqual(['policy git-order']);
  expect(shown(registry, 'order')).toEqual(['policy git-order']);
  expect(shown(registry, 'my_guide/inner')).toEqual(['policy my_guide/inner: prefixed with `my`']);
  expect(shown(registry, 'my_guide.more')).toEqual(['section my_guide.more: prefixed with `my`']);
  expect(shown(registry, 'git/state')).toEqual(['slice git/state']);
  expect(shown(registry, 'git/small')).toEqual(['model git/small']);
  expect(shown(registry, 'git')).toEqual(['plugin git: prefixed with `my`']);
  expect(shown(registry, 'budget')).toEqual(['pack budget (not in force): offered, but not used']);
  expect(shown(registry, 'nothing')).toEqual([]);
  expect(registry.explain('my_push')[0]).toMatchObject({
    qualifiedName: 'git/push',
    provenance: { plugin: 'git', version: '1.0.0', package: '@acme/git', file: source.file, digest: 'ab12' },
  });
});

test('other owners of a name, and the chosen one', () => {
  const registry = createRegistry({ winners: { push: 'git' } })
    .use(git)
    .use(pluginOf('hg', 'push'));
  expect(shown(registry, 'push')).toEqual([
    'command push',
    'tool push: `hg` has the same name',
    'tool push (not in force): `winners` gives the name to `git`',
  ]);
});

test('active packs: preset and offering plugins', () => {
  const direct = createRegistry().use(budget, { preset: 'strict', source: { package: '@acme/budget' } });
  expect(shown(direct, 'budget')).toEqual(['pack budget: preset `strict`']);
  expect(shown(direct, 'budget/call-budget')).toEqual(['policy budget-call-budget']);
  expect(direct.explain('budget')[0]?.provenance).toEqual({
    plugin: 'budget',
    version: '1.2.3',
    package: '@acme/budget',
  });
  const offered = createRegistry().use(budget, { preset: 'observe' }).use(git);
  const says = 'preset `observe`; not enforced; offered by the plugin `git` 1.0.0';
  expect(shown(offered, 'git/budget')).toEqual([`pack budget: ${says}`]);
});

test('a pack offered by several plugins is explained the same in any order of use', () => {
  const plugins = ['hg', 'git', 'svn'].map((name) => pluginNamed(name, { packs: [budget] }));
  const one = plugins.reduce((registry, plugin) => registry.use(plugin), createRegistry().use(budget));
  const other = plugins
    .toReversed()
    .reduce((registry, plugin) => registry.use(plugin), createRegistry())
    .use(budget);
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  expect(shown(one, 'budget')).toEqual([
    'pack budget: preset `recommended`; offered by the plugins `git` 1.0.0, `hg` 1.0.0, `svn` 1.0.0',
  ]);
});

test("a package version that differs from the plugin's", () => {
  const versioned = createRegistry().use(git, { source: { ...source, version: '1.0.1' } });
  expect(versioned.explain('git')[0]?.provenance).toEqual({
    plugin: 'git',
    version: '1.0.0',
    package: '@acme/git',
    packageVersion: '1.0.1',
    file: source.file,
    digest: 'ab12',
  });
});

test('a tool loaded from a file has that file as origin', () => {
  const origins: readonly ToolOrigin[] = [
    { kind: 'file', source: 'greet.mjs', digest: 'cd34' },
    { kind: 'plugin', source: 'files: tools/tag.mjs' },
    { kind: 'mcp', source: 'server', digest: 'ef56' },
  ];
  const names = ['greet', 'tag', 'remote'];
  const tools = origins.map((origin, index) => ({ ...toolNamed(names[index] ?? ''), origin }));
  const registry = createRegistry({ winners: { greet: 'git' } }).use(
    pluginNamed('files', { tools: [...tools, toolNamed('plain')] }),
    { source },
  );
  const about = { plugin: 'files', version: '1.0.0', package: '@acme/git' };
  const provenanceOf = (name: string) => registry.explain(name)[0]?.provenance;
  expect(provenanceOf('greet')).toEqual({ ...about, file: 'greet.mjs', digest: 'cd34' });
  // Without the digest of another file.
  expect(provenanceOf('tag')).toEqual({ ...about, file: 'tools/tag.mjs' });
  expect(provenanceOf('remote')).toEqual({ ...about, file: source.file, digest: 'ab12' });
  expect(provenanceOf('plain')).toEqual({ ...about, file: source.file, digest: 'ab12' });
});

test('why a plugin is left out', () => {
  const registry = createRegistry().use({ ...git, holdfast: '^999.0.0' });
  expect(shown(registry, 'git')).toEqual([
    expect.stringContaining('plugin git (not in force): The plugin `git` 1.0.0 requires'),
  ]);
  expect(registry.explain('push')).toEqual([]);
});

test('the JSON is the same in any order of use', () => {
  const one = createRegistry({ winners: { push: 'git' } })
    .use(git)
    .use(pluginOf('hg', 'push'))
    .use(budget);
  const other = createRegistry({ winners: { push: 'git' } })
    .use(budget)
    .use(pluginOf('hg', 'push'))
    .use(git);
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  const { plugins, packs, contributions, problems } = JSON.parse(JSON.stringify(one));
  expect(plugins.map(({ name }: { readonly name: string }) => name)).toEqual(['git', 'hg']);
  expect(packs).toEqual([expect.objectContaining({ id: 'budget', preset: 'recommended' })]);
  expect(problems).toEqual([]);
  // Every listed name can be explained.
  for (const explanation of contributions as readonly Explanation[]) {
    expect(one.explain(explanation.name)).toContainEqual(explanation);
    expect(one.explain(explanation.qualifiedName)).toContainEqual(explanation);
  }
});
