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

/** The casts stand for authors who write without types. */
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
  ['a `setup` that answers later', making(Promise.resolve({})), 'promise'],
  ['a `setup` that fails later', makingBy(() => Promise.reject(new Error('too late'))), 'promise'],
  ['a `setup` that answers a thenable', making({ [later]: () => undefined }), 'promise'],
  [
    'a `setup` whose `then` throws',
    makingBy(() => ({
      get [later]() {
        return throwing('no then');
      },
    })),
    'no then',
  ],
  ['a `setup` that makes nothing', making(undefined), 'no object of contributions'],
  ['a `setup` that makes a list', making([toolNamed('push')]), 'no object of contributions'],
  ['a `setup` with odd keys', making({ tool: [] }), 'unknown key `tool`'],
  ['a `setup` that names the plugin anew', making({ name: 'git' }), '`name`, which is no contribution'],
  ['a `setup` with a `setup`', making({ setup: () => ({}) }), '`setup`, which is no contribution'],
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
  ['lists that are none', { ...pluginNamed('bad'), tools: {} } as never, 'no list'],
  ['a schema that cannot be compiled', { ...pluginNamed('bad'), configSchema: {} as never }, 'left out'],
  ['a schema that answers later', { ...pluginNamed('bad'), configSchema: laterSchema() }, 'left out'],
  ['nothing for a tool', wrong({ tools: [undefined] }), '`tools` at 1 is none'],
  ['a function for a tool', wrong({ tools: [toolNamed('push'), () => 1] }), '`tools` at 2 is none'],
  ['half a tool', wrong({ tools: [{ name: 'push', description: 'Push.' }] }), '`defineTool`'],
  ['a tool with a bad name', wrong({ tools: [{ ...toolNamed('push'), name: 'git/push' }] }), '`git/push`'],
  ['a tool with a reserved name', wrong({ tools: [{ ...toolNamed('push'), name: '__proto__' }] }), '`__proto__`'],
  ['a tool with odd effects', wrong({ tools: [{ ...toolNamed('push'), effects: 'some' }] }), '`effects`'],
  ['a tool whose `execute` is none', wrong({ tools: [{ ...toolNamed('push'), execute: 'rm' }] }), '`defineTool`'],
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
    'has an `origin` that is none',
  ]),
  [
    'a tool that takes no object',
    wrong({ tools: [defineTool({ name: 'push', description: 'Push.', inputSchema: jsonSchema({ type: 'string' }) })] }),
    'must describe an object',
  ],
  ['a tool whose schema is none', wrong({ tools: [{ ...toolNamed('push'), inputSchema: {} }] }), 'left out'],
  [
    'a tool whose examples do not fit',
    wrong({ tools: [{ ...toolNamed('push'), examples: [{ description: 'x', input: { a: 1 }, output: 1 }] }] }),
    '`push`',
  ],
  ['a tool with a name of prompts', wrong({ tools: [toolNamed('open_sections')] }), 'prompts bring themselves'],
  ['a tool that looks like one of prompts', wrong({ tools: [toolNamed('read-sectlon')] }), 'prompts bring themselves'],
  ['one tool twice', wrong({ tools: [toolNamed('push'), toolNamed('push')] }), '`push`'],
  [
    'two tools that look alike',
    wrong({ tools: [toolNamed('list'), toolNamed('1ist')] }),
    'easily mixed up: `list` and `1ist`',
  ],
  [
    'a tool in a section, too',
    wrong({ tools: [toolNamed('push')], sections: [sectionOf('a', { tools: [toolNamed('push')] })] }),
    '`push`',
  ],
  ['something for a policy', wrong({ policies: [{ name: 'guard' }] }), '`definePolicy`'],
  ['a policy with a slash', wrong({ policies: [{ ...denying('a'), id: 'host/a' }] }), '`definePolicy`'],
  ['a policy whose `tools` are none', wrong({ policies: [{ ...denying('a'), tools: [1] }] }), '`definePolicy`'],
  ['a policy whose `reserve` is none', wrong({ policies: [{ ...denying('a'), reserve: {} }] }), '`definePolicy`'],
  ...[
    5,
    {},
    { kind: 'some' },
    { kind: 'value', initial: new Map() },
    { kind: 'value', initial: { at: new Date(0) } },
  ].map((state, index): [string, Plugin, string] => [
    `a policy with a state that cannot be kept (${index})`,
    wrong({ policies: [{ ...denying('a'), state }] }),
    'has a state that cannot be kept, `a`',
  ]),
  [
    'a policy whose state has a schema that is none',
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
  ['a section without children', wrong({ sections: [{ ...sectionOf('a'), children: {} }] }), 'no list'],
  ['sections in a circle', wrong({ sections: [cyclic] }), 'levels deep'],
  ['sections without end', wrong({ sections: [manyLevels] }), 'levels deep'],
  [
    'a task example that is none',
    wrong({ sections: [sectionOf('a', { taskExamples: [{ steps: 'x' }] as never })] }),
    '`taskExamples`',
  ],
  ['something for a slice', wrong({ slices: [{ id: 'a' }] }), '`defineSlice`'],
  ['a slice of no kind', wrong({ slices: [{ ...sliceNamed('a'), kind: 'some' }] }), '`defineSlice`'],
  ['a slice that is kept nowhere', wrong({ slices: [{ ...sliceNamed('a'), retention: 'some' }] }), '`defineSlice`'],
  ['a slice with a bad id', wrong({ slices: [{ ...sliceNamed('a'), id: 'A b' }] }), '`A b`'],
  ['a slice that is no JSON', wrong({ slices: [{ ...sliceNamed('a'), initial: new Map() }] }), 'not JSON'],
  [
    'a slice whose reducers are none',
    wrong({ slices: [{ ...sliceNamed('a'), reducers: new Map([['done', 1]]) }] }),
    '`defineSlice`',
  ],
  ['a slice whose schema is none', wrong({ slices: [{ ...sliceNamed('a'), schema: {} }] }), 'left out'],
  ['a slice for grants', wrong({ slices: [sliceNamed('holdfast/grants')] }), "Holdfast's own"],
  [
    "a slice for a policy's state",
    wrong({ sections: [sectionOf('a', { slices: [sliceNamed('policy:host/budget-call-budget')] })] }),
    "Holdfast's own",
  ],
  ['something for a model', wrong({ models: [{ name: 'Large', description: 'x', create: () => 1 }] }), 'needs a name'],
  [
    'a model without words',
    wrong({ models: [{ name: 'large', description: 'a\nb', create: () => 1 }] }),
    '`description`',
  ],
  ['a model that cannot be made', wrong({ models: [{ name: 'large', description: 'x' }] }), '`create`'],
  ['something for a resource', wrong({ resources: [{ type: 'resource', create: 1 }] }), '`undefined`'],
  ['nothing for a resource', wrong({ resources: [undefined] }), '`defineResource`'],
  [
    'a resource that lives for ever',
    wrong({ resources: [{ type: 'resource', name: 'x', lifetime: 'ever', create: () => 1 }] }),
    '`lifetime`',
  ],
  ['a command that is an option', wrong({ commands: [{ ...commandNamed('x'), name: '--help' }] }), 'needs a name'],
  ['a command that does nothing', wrong({ commands: [{ name: 'x', description: 'x' }] }), '`run`'],
  ['a folder that is none', wrong({ toolFolders: ['./tools'] }), 'is no URL'],
])('plugin.failed: %s', (_, plugin, says) => {
  const registry = createRegistry().use(pluginOf('good', 'pull')).use(plugin).use(pluginOf('fine', 'tag'));
  expect(registry.problems).toMatchObject([
    { code: 'plugin.failed', plugin: 'bad', message: expect.stringContaining(says) },
  ]);
  expect(registry.problems[0]?.message).toMatch(/^The plugin `bad` 1\.0\.0 is left out: /);
  // It costs itself, and whole.
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

test('a message that never ends is cut', () => {
  const registry = createRegistry().use({ ...pluginNamed('bad'), setup: () => throwing('x'.repeat(1_000_000)) });
  expect(registry.problems[0]?.message.length).toBeLessThan(3_000);
});

test('nothing that an author changes after `use` changes what is in force', async () => {
  const tool = { ...toolNamed('push') };
  const policy = { ...denying('order') };
  const command = { ...commandNamed('sync') };
  const section = { ...sectionOf('guide', { tools: [tool] }), tools: [{ ...toolNamed('log') }] };
  // Made by hand, to the shape of what `definePlugin` makes.
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

test('what a registry shows cannot be changed', () => {
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

test('`setup` runs once for each use, after everything else was read', () => {
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
