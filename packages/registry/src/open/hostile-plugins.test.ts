import {
  definePlugin,
  defineSlice,
  defineTool,
  type Plugin,
  type PluginContributions,
  type Slice,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
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
import { createRegistry } from './create-registry.ts';

/** The casts stand for untyped authors. */
function wrong(contributions: Readonly<Record<string, unknown>>): Plugin {
  return pluginNamed('bad', contributions as PluginContributions);
}

function making(made: unknown): Plugin {
  return makingBy(() => made);
}

function makingBy(make: () => unknown): Plugin {
  return { ...pluginNamed('bad'), setup: () => make() as PluginContributions };
}

const later = 'then';

function throwing(message: string): never {
  throw new Error(message);
}

const cyclic = (() => {
  const children: unknown[] = [];
  const section = { ...sectionOf('cyclic'), children };
  children.push(section);
  return section;
})();

const manyLevels = Array.from({ length: 100 }).reduce<ReturnType<typeof sectionOf>>(
  (child) => sectionOf('level', { children: [child] }),
  sectionOf('last'),
);

test.each<[string, Plugin, string]>([
  ['a `setup` that throws', { ...pluginNamed('bad'), setup: () => throwing('out of order') }, 'out of order'],
  [
    'a `setup` that throws nothing',
    { ...pluginNamed('bad'), setup: () => Promise.reject.call(undefined as never) as never },
    'left out',
  ],
  ['an asynchronous `setup`', making(Promise.resolve({})), 'promise'],
  ['a `setup` that rejects', makingBy(() => Promise.reject(new Error('too late'))), 'promise'],
  ['a `setup` that returns a thenable', making({ [later]: () => undefined }), 'promise'],
  [
    'a `setup` whose `then` throws',
    makingBy(() => ({
      get [later]() {
        return throwing('no then');
      },
    })),
    'no then',
  ],
  ['a `setup` that returns nothing', making(undefined), 'must return an object of contributions'],
  ['a `setup` that returns a list', making([toolNamed('push')]), 'must return an object of contributions'],
  ['a `setup` with odd keys', making({ tool: [] }), 'unknown key `tool`'],
  ['a `setup` that renames the plugin', making({ name: 'git' }), '`name`, which is not a contribution'],
  ['a `setup` with a `setup`', making({ setup: () => ({}) }), '`setup`, which is not a contribution'],
  [
    'a `setup` whose lists cannot be read',
    making({
      get tools() {
        return throwing('no tools');
      },
    }),
    'no tools',
  ],
  [
    'lists that cannot be read',
    {
      ...pluginNamed('bad'),
      get tools() {
        return throwing('no tools');
      },
    } as never,
    'no tools',
  ],
  ['a proxy that lies', new Proxy(pluginNamed('bad'), { ownKeys: () => throwing('no keys') }), 'no keys'],
  ['unknown keys', { ...pluginNamed('bad'), hooks: [] } as never, 'unknown key `hooks`'],
  ['lists that are invalid', { ...pluginNamed('bad'), tools: {} } as never, '`tools`'],
  ['a schema that cannot be compiled', { ...pluginNamed('bad'), configSchema: {} as never }, 'left out'],
  ['an asynchronous schema', { ...pluginNamed('bad'), configSchema: laterSchema() }, 'left out'],
  ['nothing for a tool', wrong({ tools: [undefined] }), 'item 1 of its `tools` is invalid'],
  ['a function for a tool', wrong({ tools: [toolNamed('push'), () => 1] }), 'item 2 of its `tools` is invalid'],
  ['half a tool', wrong({ tools: [{ name: 'push', description: 'Push.' }] }), '`defineTool`'],
  ['a tool with a bad name', wrong({ tools: [{ ...toolNamed('push'), name: 'git/push' }] }), '`git/push`'],
  ['a tool with a reserved name', wrong({ tools: [{ ...toolNamed('push'), name: '__proto__' }] }), '`__proto__`'],
  ['a tool with odd effects', wrong({ tools: [{ ...toolNamed('push'), effects: 'some' }] }), '`effects`'],
  ['a tool with invalid `execute`', wrong({ tools: [{ ...toolNamed('push'), execute: 'rm' }] }), '`defineTool`'],
  ...[
    5,
    'file',
    {},
    { kind: 'disk', source: 'a' },
    { kind: 'file', source: 7 },
    { kind: 'mcp', source: 'a', digest: 5n },
  ].map((origin, index): [string, Plugin, string] => [
    `a tool from nowhere (${index})`,
    wrong({ tools: [{ ...toolNamed('push'), origin }] }),
    'has an invalid `origin`',
  ]),
  [
    'a tool without an object as input',
    wrong({ tools: [defineTool({ name: 'push', description: 'Push.', inputSchema: jsonSchema({ type: 'string' }) })] }),
    'must describe an object',
  ],
  ['a tool with invalid schema', wrong({ tools: [{ ...toolNamed('push'), inputSchema: {} }] }), 'left out'],
  [
    'a tool with invalid examples',
    wrong({ tools: [{ ...toolNamed('push'), examples: [{ description: 'x', input: { a: 1 }, output: 1 }] }] }),
    '`push`',
  ],
  [
    'a tool with a built-in name',
    wrong({ tools: [toolNamed('open_sections')] }),
    'looks like a built-in tool of prompts',
  ],
  [
    'a tool that looks like a built-in one',
    wrong({ tools: [toolNamed('read-sectlon')] }),
    'looks like a built-in tool of prompts',
  ],
  ['the same tool twice', wrong({ tools: [toolNamed('push'), toolNamed('push')] }), '`push`'],
  [
    'two tools that look alike',
    wrong({ tools: [toolNamed('list'), toolNamed('1ist')] }),
    'look alike: `list` and `1ist`',
  ],
  [
    'a tool in a section, too',
    wrong({ tools: [toolNamed('push')], sections: [sectionOf('a', { tools: [toolNamed('push')] })] }),
    '`push`',
  ],
  ['something for a policy', wrong({ policies: [{ name: 'guard' }] }), '`definePolicy`'],
  ['a policy with a slash', wrong({ policies: [{ ...denying('a'), id: 'host/a' }] }), '`definePolicy`'],
  ['a policy with invalid `mentions`', wrong({ policies: [{ ...denying('a'), mentions: [1] }] }), '`definePolicy`'],
  ['a policy with invalid `reserve`', wrong({ policies: [{ ...denying('a'), reserve: {} }] }), '`definePolicy`'],
  ...[
    5,
    {},
    { kind: 'some' },
    { kind: 'value', initial: new Map() },
    { kind: 'value', initial: { at: new Date(0) } },
  ].map((state, index): [string, Plugin, string] => [
    `a policy with a state that cannot be kept (${index})`,
    wrong({ policies: [{ ...denying('a'), state }] }),
    'has an unsupported state, `a`',
  ]),
  [
    'a policy whose state has a schema that is invalid',
    wrong({ policies: [{ ...denying('a'), state: { kind: 'value', initial: 1, schema: {} } }] }),
    'left out',
  ],
  ['two policies of one id', wrong({ policies: [denying('a'), denying('a')] }), '`bad-a`'],
  [
    'two policies of one long id',
    wrong({ policies: [denying(`${'a'.repeat(63)}b`), denying(`${'a'.repeat(63)}c`)] }),
    'two of its policies',
  ],
  ['something for a pack', wrong({ packs: [{ type: 'pack', name: 'x' }] }), '`definePack`'],
  ['a pack with a slash', wrong({ packs: [{ ...budget, name: 'a/b' }] }), '`definePack`'],
  ['two packs of one name', wrong({ packs: [budget, budget] }), '`budget`'],
  ['something for a section', wrong({ sections: [{ key: 'a' }] }), '`markdownSection`'],
  [
    'a section with a bad tool',
    wrong({ sections: [sectionOf('a', { children: [sectionOf('b', { tools: [{}] as never })] })] }),
    '`defineTool`',
  ],
  ['a section without children', wrong({ sections: [{ ...sectionOf('a'), children: {} }] }), 'must be a list'],
  ['circular sections', wrong({ sections: [cyclic] }), 'levels deep'],
  ['endless sections', wrong({ sections: [manyLevels] }), 'levels deep'],
  [
    'a task example that is invalid',
    wrong({ sections: [sectionOf('a', { taskExamples: [{ steps: 'x' }] as never })] }),
    '`taskExamples`',
  ],
  ['something for a slice', wrong({ slices: [{ id: 'a' }] }), '`defineSlice`'],
  ['a slice with an unknown kind', wrong({ slices: [{ ...sliceNamed('a'), kind: 'some' }] }), '`defineSlice`'],
  [
    'a slice with an unknown retention',
    wrong({ slices: [{ ...sliceNamed('a'), retention: 'some' }] }),
    '`defineSlice`',
  ],
  ['a slice with a bad id', wrong({ slices: [{ ...sliceNamed('a'), id: 'A b' }] }), '`A b`'],
  ['a slice that is not JSON', wrong({ slices: [{ ...sliceNamed('a'), initial: new Map() }] }), 'not JSON'],
  [
    'a slice with invalid reducers',
    wrong({ slices: [{ ...sliceNamed('a'), reducers: new Map([['done', 1]]) }] }),
    '`defineSlice`',
  ],
  ['a slice with invalid schema', wrong({ slices: [{ ...sliceNamed('a'), schema: {} }] }), 'left out'],
  ['a slice for grants', wrong({ slices: [sliceNamed('holdfast/grants')] }), 'reserved for Holdfast'],
  [
    "a slice for a policy's state",
    wrong({ sections: [sectionOf('a', { slices: [sliceNamed('policy:host/budget-call-budget')] })] }),
    'reserved for Holdfast',
  ],
  ['something for a model', wrong({ models: [{ name: 'Large', description: 'x', create: () => 1 }] }), 'needs a name'],
  [
    'a model with an invalid description',
    wrong({ models: [{ name: 'large', description: 'a\nb', create: () => 1 }] }),
    '`description`',
  ],
  ['a model without `create`', wrong({ models: [{ name: 'large', description: 'x' }] }), '`create`'],
  ['something for a resource', wrong({ resources: [{ type: 'resource', create: 1 }] }), '`undefined`'],
  ['nothing for a resource', wrong({ resources: [undefined] }), '`defineResource`'],
  [
    'a resource with an unknown lifetime',
    wrong({ resources: [{ type: 'resource', name: 'x', lifetime: 'ever', create: () => 1 }] }),
    '`lifetime`',
  ],
  ['a command that is an option', wrong({ commands: [{ ...commandNamed('x'), name: '--help' }] }), 'needs a name'],
  ['a command that does nothing', wrong({ commands: [{ name: 'x', description: 'x' }] }), '`run`'],
  ['a folder that is invalid', wrong({ toolFolders: ['./tools'] }), 'must be a URL'],
])('plugin.failed: %s', (_, plugin, says) => {
  const registry = createRegistry().use(pluginOf('good', 'pull')).use(plugin).use(pluginOf('fine', 'tag'));
  expect(registry.problems).toMatchObject([
    { code: 'plugin.failed', plugin: 'bad', message: expect.stringContaining(says) },
  ]);
  expect(registry.problems[0]?.message).toMatch(/^The plugin `bad` 1\.0\.0 is left out: /);
  // The whole plugin is left out, and no other.
  expect(namesOf(registry)).toEqual(['pull', 'tag']);
  expect(registry.policies).toEqual([]);
  expect(registry.plugins.map(({ state }) => state)).toEqual(['in-force', 'left-out', 'in-force']);
});

function sliceNamed(id: string): Slice {
  return defineSlice({ id, kind: 'value', initial: 0, reducers: {} });
}

function laterSchema(): never {
  const standard = { version: 1, vendor: 'later', validate: () => Promise.resolve({ value: {} }) };
  return { '~standard': standard } as never;
}

test('an endless message is cut', () => {
  const registry = createRegistry().use({ ...pluginNamed('bad'), setup: () => throwing('x'.repeat(1_000_000)) });
  expect(registry.problems[0]?.message.length).toBeLessThan(3_000);
});

test('later changes by the author have no effect', async () => {
  const tool = { ...toolNamed('push') };
  const policy = { ...denying('order') };
  const command = { ...commandNamed('sync') };
  const section = { ...sectionOf('guide', { tools: [tool] }), tools: [{ ...toolNamed('log') }] };
  // Handwritten in the shape of `definePlugin`.
  const plugin = {
    type: 'plugin',
    name: 'git',
    version: '1.0.0',
    description: 'About git.',
    holdfast: '>=0.0.0',
    configSchema: undefined,
    tools: [tool],
    policies: [policy],
    commands: [command],
    sections: [section],
  };
  const registry = createRegistry().use(plugin as Plugin);
  tool.name = 'rm';
  Object.assign(tool, { dangerous: true, execute: () => 'changed' });
  Object.assign(policy, { check: () => ({ type: 'allow' }) });
  command.run = () => 1;
  section.tools.push({ ...toolNamed('rm_all') });
  plugin.tools.push({ ...toolNamed('more') });
  plugin.name = 'other';

  expect(namesOf(registry)).toEqual(['push', 'log']);
  const [push] = registry.tools;
  expect(push).toMatchObject({ name: 'push', dangerous: false });
  expect(push?.execute?.({}, {} as never)).toBe('push');
  expect(await registry.policies[0]?.check(callOf('push'), noContext)).toMatchObject({ type: 'deny' });
  expect(registry.commands.get('sync')?.run([], {} as never)).toBe(0);
  expect(registry.sections[0]?.tools).toHaveLength(1);
  expect(registry.plugins[0]?.name).toBe('git');
});

test('the data of a registry cannot be changed', () => {
  const registry = createRegistry().use(
    pluginNamed('git', { tools: [toolNamed('push')], policies: [denying('order')] }),
  );
  for (const shown of [
    registry.tools,
    registry.tools[0],
    registry.policies,
    registry.policies[0],
    registry.plugins,
    registry.plugins[0],
    registry.problems,
    registry.explain('push')[0],
  ]) {
    expect(Object.isFrozen(shown)).toBe(true);
  }
});

test('`setup` runs once per use, after everything else was read', () => {
  let runs = 0;
  const plugin = definePlugin({
    name: 'git',
    version: '1.0.0',
    description: 'About git.',
    holdfast: '>=0.0.0',
    setup: () => {
      runs += 1;
      return {};
    },
  });
  const registry = createRegistry().use(plugin);
  for (let time = 0; time < 3; time += 1) expect(registry.tools).toEqual([]);
  expect(runs).toBe(1);
  createRegistry().use({ ...plugin, policies: [{}] } as never);
  expect(runs).toBe(1);
});
