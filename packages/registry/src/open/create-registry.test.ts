import { defineResource, defineSlice, defineTool, type Plugin } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { holdfastVersion } from '../resolve/holdfast-version.ts';
import {
  budget,
  callOf,
  commandNamed,
  denying,
  namesOf,
  noContext,
  pluginNamed,
  pluginOf,
  sectionOf,
  toolNamed,
} from '../resolve/test-plugins.ts';
import type { Registry, UsePluginOptions } from '../resolve/types.ts';
import { createRegistry } from './create-registry.ts';

function slice(id: string) {
  return defineSlice({ id, kind: 'value', initial: 0, reducers: {} });
}

test('`use` returns a new registry; earlier ones are unchanged, even with two successors', () => {
  const empty = createRegistry();
  const git = empty.use(pluginOf('git', 'push'));
  const both = git.use(pluginOf('hg', 'pull'));
  const other = git.use(pluginOf('svn', 'pull'));
  expect([empty, git, both, other].map(namesOf)).toEqual([[], ['push'], ['push', 'pull'], ['push', 'pull']]);
  expect(other.resolve('svn/pull')).toBeDefined();
  expect(other.resolve('hg/pull')).toBeUndefined();
  // Each knows the names of its own chain.
  expect(() => both.use(pluginOf('cvs', 'pull'))).toThrow(
    expect.objectContaining({ code: 'registry.invalid', reason: 'name.conflict' }),
  );
  expect(namesOf(git.use(pluginOf('cvs', 'pull')))).toEqual(['push', 'pull']);
});

test('a `use` that throws leaves the registry unchanged', () => {
  const git = createRegistry().use(pluginOf('git', 'push'));
  expect(() => git.use(pluginOf('hg', 'pull', 'push'))).toThrow('have the tool `push`');
  expect(namesOf(git.use(pluginOf('svn', 'pull')))).toEqual(['push', 'pull']);
});

test('all contributions are included, from lists and from `setup`', () => {
  const files = defineResource({ name: 'files', lifetime: 'session', create: () => 1 });
  const state = slice('git/state');
  const plugin: Plugin = {
    ...pluginNamed('git', {
      tools: [toolNamed('push')],
      sections: [
        sectionOf('guide', {
          tools: [toolNamed('log')],
          children: [sectionOf('more', { tools: [toolNamed('blame')] })],
        }),
      ],
      slices: [state],
      resources: [files],
      packs: [budget],
    }),
    setup: () => ({
      tools: [toolNamed('tag')],
      models: [{ name: 'small', description: 'A model.', create: () => Promise.reject(new Error('not here')) }],
      commands: [commandNamed('git')],
      policies: [denying('order')],
    }),
  };
  const registry = createRegistry().use(plugin);
  expect(registry.problems).toEqual([]);
  expect(namesOf(registry)).toEqual(['push', 'tag', 'log', 'blame']);
  expect(registry.looseTools).toMatchObject([
    { plugin: 'git', description: 'About git.', tools: [{ name: 'push' }, { name: 'tag' }] },
  ]);
  // Sections contain the listed tools.
  expect(registry.sections[0]?.children[0]?.tools[0]).toBe(registry.tools[3]);
  expect(registry.slices).toEqual([state]);
  expect(registry.resources.get('files')).toBe(files);
  expect([...registry.models.keys()]).toEqual(['git/small']);
  expect([...registry.commands.keys()]).toEqual(['git']);
  expect([...registry.packs]).toEqual([['git/budget', budget]]);
  expect(registry.policies.map(({ id }) => id)).toEqual(['git-order']);
  expect(registry.plugins).toMatchObject([{ name: 'git', state: 'in-force', prefix: undefined, problem: undefined }]);
});

test("a plugin's policies apply to its own tools and see every success", async () => {
  const seen: string[] = [];
  const registry = createRegistry()
    .use(pluginNamed('git', { tools: [toolNamed('push')], policies: [denying('order', seen)] }))
    .use(pluginOf('hg', 'pull'));
  const [policy] = registry.policies;
  expect(await policy?.check(callOf('push'), noContext)).toMatchObject({ type: 'deny' });
  expect(await policy?.check(callOf('pull'), noContext)).toEqual({ type: 'allow' });
  policy?.onResult?.(callOf('pull'), { value: null, message: '', touched: new Map() }, noContext);
  expect(seen).toEqual(['push', 'pull!']);
});

test("a plugin's policies cannot fail foreign calls", async () => {
  const success = { value: null, message: '', touched: new Map() };
  const policyWith = (onResult: () => never) => {
    const plugin = pluginNamed('git', { tools: [toolNamed('push')], policies: [{ ...denying('order'), onResult }] });
    return createRegistry().use(plugin).policies[0];
  };
  const failing = policyWith(() => {
    throw new Error('not with me');
  });
  expect(() => failing?.onResult?.(callOf('push'), success, noContext)).toThrow('not with me');
  expect(failing?.onResult?.(callOf('pull'), success, noContext)).toBeUndefined();
  // The cast stands for an untyped author.
  const late = policyWith((() => Promise.reject(new Error('too late'))) as never);
  await expect(late?.onResult?.(callOf('push'), success, noContext)).rejects.toThrow('too late');
  expect(late?.onResult?.(callOf('pull'), success, noContext)).toBeUndefined();
});

test('a section keeps its active contributions', () => {
  const steps = (...tools: readonly string[]) => ({
    objective: 'Ship.',
    outcome: 'Shipped.',
    steps: tools.map((tool) => ({ tool, description: 'A step.', input: {}, output: null })),
  });
  const section = sectionOf('git', {
    tools: [toolNamed('push'), toolNamed('tag')],
    taskExamples: [steps('tag', 'other'), steps('tag', 'push')],
    children: [sectionOf('more', { tools: [toolNamed('log')] })],
  });
  const git = pluginNamed('git', { sections: [section] });
  const lost = createRegistry({ winners: { push: 'hg' } })
    .use(git)
    .use(pluginOf('hg', 'push'));
  expect(namesOf(lost)).toEqual(['tag', 'log', 'push']);
  expect(lost.sections).toMatchObject([
    { tools: [{ name: 'tag' }], taskExamples: [{ steps: [{ tool: 'tag' }, { tool: 'other' }] }] },
  ]);
  expect(lost.sections[0]?.taskExamples).toHaveLength(1);
  const [prefixed] = createRegistry().use(git, { prefix: 'my' }).sections;
  expect(prefixed?.taskExamples[1]?.steps.map(({ tool }) => tool)).toEqual(['my_tag', 'my_push']);
  expect(prefixed?.children[0]).toMatchObject({ key: 'more', tools: [{ name: 'my_log' }] });
});

test("options are validated by the plugin's schema, and `setup` gets the result", () => {
  const schema = { type: 'object', properties: { tool: { type: 'string', default: 'push' } } } as const;
  const plugin: Plugin = {
    ...pluginNamed('git'),
    configSchema: jsonSchema(schema),
    setup: (config) => ({ tools: [toolNamed((config as { tool?: string }).tool ?? 'none')] }),
  };
  expect(namesOf(createRegistry().use(plugin, { config: { tool: 'tag' } }))).toEqual(['tag']);
  expect(createRegistry().use(plugin).problems).toEqual([]);
  const wrong: readonly unknown[] = [
    { tool: 1 },
    { tools: 'tag' },
    [],
    'tag',
    { tool: undefined },
    { tool: () => 'tag' },
    JSON.parse('{"__proto__":{"tool":"x"}}'),
  ];
  for (const config of wrong) {
    expect(() => createRegistry().use(plugin, { config } as never)).toThrow(
      expect.objectContaining({
        code: 'plugin.invalid',
        reason: 'config',
        message: expect.stringContaining('`git` 1.0.0'),
      }),
    );
  }
  expect(() => createRegistry().use(pluginOf('git'), { config: { tool: 'tag' } })).toThrow(
    expect.objectContaining({
      code: 'plugin.invalid',
      reason: 'config',
      message: expect.stringContaining('it takes none, got `tool`'),
    }),
  );
  expect(createRegistry().use(pluginOf('git'), { config: {} }).problems).toEqual([]);
});

test('a prefix applies to tools, sections and commands only', () => {
  const registry = createRegistry().use(
    pluginNamed('git', {
      tools: [toolNamed('push')],
      sections: [sectionOf('guide', { tools: [toolNamed('log')] })],
      commands: [commandNamed('sync')],
      slices: [slice('git/state')],
      policies: [{ ...denying('order'), mentions: ['push', 'deploy'] }],
    }),
    { prefix: 'my_git' },
  );
  expect(namesOf(registry)).toEqual(['my_git_push', 'my_git_log']);
  expect(registry.sections[0]).toMatchObject({ key: 'my_git_guide', tools: [{ name: 'my_git_log' }] });
  expect([...registry.commands]).toMatchObject([['my-git-sync', { name: 'my-git-sync' }]]);
  expect(registry.slices[0]?.id).toBe('git/state');
  expect(registry.policies[0]).toMatchObject({ id: 'git-order', mentions: ['my_git_push', 'deploy'] });
  expect(registry.resolve('git/push')?.name).toBe('my_git_push');
  expect(registry.resolve('git/my_git_push')).toBeUndefined();
  expect(registry.resolve('push')).toBeUndefined();
});

test.each(['', 'Git', 'git_', '_git', 'git__x', 'gi t', '1git', '__proto__', 'git/', 'x'.repeat(33), 7, null])(
  'registry.invalid: prefix.invalid: %j',
  (prefix) => {
    expect(() => createRegistry().use(pluginOf('git', 'push'), { prefix } as never)).toThrow(
      expect.objectContaining({ code: 'registry.invalid', reason: 'prefix.invalid' }),
    );
  },
);

test.each<[string, Plugin]>([
  ['a tool', pluginOf('git', 'p'.repeat(60))],
  ['a section', pluginNamed('git', { sections: [sectionOf('s'.repeat(60))] })],
  ['a command', pluginNamed('git', { commands: [commandNamed('c'.repeat(30))] })],
])('registry.invalid: prefix.invalid: %s whose prefixed name is too long', (_, plugin) => {
  expect(createRegistry().use(plugin).problems).toEqual([]);
  expect(() => createRegistry().use(plugin, { prefix: 'prefix' })).toThrow(
    expect.objectContaining({
      code: 'registry.invalid',
      reason: 'prefix.invalid',
      message: expect.stringContaining('choose a shorter prefix'),
    }),
  );
});

test.each<[string, (registry: Registry) => unknown]>([
  ['a misspelt option of the registry', () => createRegistry({ winner: {} } as never)],
  ['winners that are not an object', () => createRegistry({ winners: ['git'] } as never)],
  ['a winner that is not a name', () => createRegistry({ winners: { push: 1 } } as never)],
  ['one name twice among the winners', () => createRegistry({ winners: { push_it: 'git', 'push-it': 'hg' } })],
  ['a misspelt option of a plugin', (registry) => registry.use(pluginOf('git'), { prefixes: 'git' } as never)],
  ['options that are invalid', (registry) => registry.use(pluginOf('git'), 'git' as never)],
  ['a misspelt source', (registry) => registry.use(pluginOf('git'), { source: { name: 'git' } } as never)],
  ['a source that is not a text', (registry) => registry.use(pluginOf('git'), { source: { package: 1 } } as never)],
  ['a misspelt option of a pack', (registry) => registry.use(budget, { presets: 'strict' } as never)],
  ['an option of plugins for a pack', (registry) => registry.use(budget, { prefix: 'git' } as never)],
  ['neither plugin nor pack', (registry) => registry.use({ name: 'git' } as never)],
  ['a package', (registry) => registry.use('@acme/git' as never)],
  ['nothing', (registry) => registry.use(undefined as never)],
  ['a revoked proxy', (registry) => registry.use(revoked() as never)],
  ['a plugin without a name', (registry) => registry.use({ ...pluginOf('git'), name: '__proto__' })],
])('registry.invalid: options.invalid: %s', (_, act) => {
  expect(() => act(createRegistry())).toThrow(
    expect.objectContaining({ code: 'registry.invalid', reason: 'options.invalid' }),
  );
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test.each<[string, Partial<Plugin>, string]>([
  ['another Holdfast', { holdfast: '^999.0.0' }, 'plugin.failed: version.mismatch'],
  ['a range that is invalid', { holdfast: 'the latest' }, 'plugin.failed: version.invalid'],
  ['folders that were not loaded', { toolFolders: [new URL('file:///tools/')] }, 'plugin.failed: folders.unloaded'],
  [
    'folders of `setup`',
    { setup: () => ({ toolFolders: [new URL('file:///tools/')] }) },
    'plugin.failed: folders.unloaded',
  ],
])('a plugin with %s is left out', (_, wrong, code) => {
  const registry = createRegistry()
    .use({ ...pluginOf('git', 'push'), ...wrong })
    .use(pluginOf('hg', 'pull'));
  expect(namesOf(registry)).toEqual(['pull']);
  expect(registry.problems.map(describeCode)).toEqual([code]);
  expect(registry.problems).toMatchObject([{ plugin: 'git', message: expect.stringContaining('`git` 1.0.0') }]);
  expect(registry.plugins).toMatchObject([
    { state: 'left-out', problem: expect.toSatisfy((problem: { code: string }) => describeCode(problem) === code) },
    { state: 'in-force' },
  ]);
});

test('an unsupported plugin is left out before its `setup` runs', () => {
  const setup = (): never => {
    throw new Error('must not run');
  };
  const registry = createRegistry().use({ ...pluginOf('git'), holdfast: '^999.0.0', setup });
  expect(registry.problems[0]?.message).toBe(
    `The plugin \`git\` 1.0.0 requires Holdfast ^999.0.0, and this is ${holdfastVersion}: install a version of it that supports ${holdfastVersion}, or another Holdfast.`,
  );
});

test('tools of a package have it as origin, so an approval applies only to its code', () => {
  const own = defineTool({ name: 'tag', description: 'Tag.', origin: { kind: 'mcp', source: 'server' } });
  const options: UsePluginOptions = {
    source: { package: '@acme/git', version: '1.0.0', file: 'node_modules/x.js', digest: 'ab' },
  };
  const plugin = pluginNamed('git', { tools: [toolNamed('push'), own] });
  const [push, tag] = createRegistry().use(plugin, options).tools;
  expect(push?.origin).toEqual({ kind: 'plugin', source: '@acme/git', digest: 'ab' });
  expect(tag?.origin).toEqual({ kind: 'mcp', source: 'server' });
  expect(createRegistry().use(plugin).tools[0]?.origin).toBeUndefined();
});

test('thousands of plugins and tools are supported', () => {
  let registry = createRegistry().use(
    pluginOf('large', ...Array.from({ length: 5_000 }, (_, index) => `large${index}x`)),
  );
  for (let index = 2; index < 2_000; index += 1) {
    // Digits replaced by letters that do not look alike.
    const name = `p${String(index).replaceAll('0', 'a').replaceAll('1', 'b')}`;
    registry = registry.use(pluginOf(name, `${name}_tool`));
  }
  expect(registry.tools).toHaveLength(6_998);
});
