import {
  definePack,
  definePlugin,
  defineTool,
  deny,
  type Outcome,
  type PluginContributions,
  type Tool,
} from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { denyTools, requireApproval, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import {
  approveTools,
  createRegistry,
  filterTools,
  limitTools,
  prefixTools,
  type Registry,
  renameTools,
  type Toolset,
} from '@holdfast/registry';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type Session } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';

/** Plugins, packs and toolsets on the call path. */

function toolNamed(name: string): Tool {
  return defineTool({ name, description: `Says ${name}.`, effects: 'state', execute: () => name });
}

/** Says what the calls within it came to. */
function caller(name: string, ...others: readonly string[]): Tool {
  return defineTool({
    name,
    description: 'Calls others.',
    effects: 'state',
    async execute(_input, context) {
      const said: string[] = [];
      for (const other of others) {
        const { kind, value } = await context.call(other);
        said.push(kind === 'ok' ? String(value) : kind);
      }
      return said;
    },
  });
}

function pluginNamed(name: string, contributions: PluginContributions) {
  return definePlugin({ name, version: '1.0.0', description: `About ${name}.`, holdfast: '>=0.0.0', ...contributions });
}

const git = pluginNamed('git', {
  tools: [toolNamed('push'), toolNamed('test'), caller('release', 'test', 'push')],
  policies: [sequentialDependency({ push: ['test'] })],
});
const hg = pluginNamed('hg', {
  tools: [defineTool({ name: 'push', description: 'Push.', effects: 'state', execute: () => 'hg push' })],
});

function callTo(name: string) {
  return { name, arguments: {} };
}

async function call(registry: Registry, name: string, session: Session = createSession()): Promise<Outcome> {
  const { tools, policies } = registry;
  const outcome = await executeToolCall(callTo(name), { tools, policies, session, unattended: true });
  if (outcome.kind === 'suspended') throw new Error('nobody is asked here');
  return outcome;
}

test('a prefixed plugin is what it was: its policies know its tools, and its tools each other', async () => {
  for (const prefix of [undefined, 'git', 'a_b']) {
    const registry = createRegistry().use(git, prefix === undefined ? {} : { prefix });
    const name = (own: string): string => (prefix === undefined ? own : `${prefix}_${own}`);
    const session = createSession();
    expect(await call(registry, name('push'), session)).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('`test`'),
    });
    expect(await call(registry, name('release'), session)).toMatchObject({ kind: 'ok', value: ['test', 'push'] });
    expect(await call(registry, name('push'), session)).toMatchObject({ kind: 'ok' });
  }
});

test('a foreign tool of the same name is not taken for a tool of the plugin', async () => {
  const registry = createRegistry()
    .use(git, { prefix: 'git' })
    .use(pluginNamed('other', { tools: [toolNamed('test'), toolNamed('push')] }));
  const session = createSession();
  // Not its tool: nobody has to test first; and their test is not its test.
  expect(await call(registry, 'push', session)).toMatchObject({ kind: 'ok' });
  expect(await call(registry, 'test', session)).toMatchObject({ kind: 'ok' });
  expect(await call(registry, 'git_push', session)).toMatchObject({ kind: 'denied' });
  expect(await call(registry, 'git_test', session)).toMatchObject({ kind: 'ok' });
  expect(await call(registry, 'git_push', session)).toMatchObject({ kind: 'ok', value: 'push' });
});

test('a tool whose name was given to another plugin is not there for its own plugin either', async () => {
  for (const order of [
    [git, hg],
    [hg, git],
  ]) {
    const registry = order.reduce((used, plugin) => used.use(plugin), createRegistry({ winners: { push: 'hg' } }));
    expect(await call(registry, 'push')).toMatchObject({ kind: 'ok', value: 'hg push' });
    expect(await call(registry, 'release')).toMatchObject({ value: ['test', 'unknown-tool'] });
  }
});

test('packs guard the tools of all, and nothing that a plugin says takes that away', async () => {
  const pack = definePack({
    name: 'no-push',
    version: '1.0.0',
    description: 'Nothing is pushed.',
    configSchema: jsonSchema<Record<string, never>>({ type: 'object' }),
    presets: { recommended: { description: 'None.', config: {} }, strict: { description: 'None.', config: {} } },
    policies: () => [denyTools(['git_push'])],
  });
  const lenient = pluginNamed('lenient', {
    policies: [{ ...denyTools(['git_push']), check: () => ({ type: 'allow' }) }],
  });
  const registry = createRegistry().use(git, { prefix: 'git' }).use(lenient).use(pack);
  expect(await call(registry, 'git_push')).toMatchObject({ kind: 'denied', code: 'policy.denied' });
  const { policies } = registry;
  expect(policies.map(({ id }) => id)).toEqual([
    'no-push-deny-tools',
    'git-sequential-dependency',
    'lenient-deny-tools',
  ]);
});

test('a pack that a plugin offers knows its tools by their own names, before or after it', async () => {
  const schema = jsonSchema<{ deny: readonly string[] }>({
    type: 'object',
    properties: { deny: { type: 'array', items: { type: 'string' } } },
  });
  const recommended = { description: 'Nothing is pushed.', config: { deny: ['push'] } };
  const pack = definePack({
    name: 'no-push',
    version: '1.0.0',
    description: 'Chosen tools do not run.',
    configSchema: schema,
    presets: { recommended, strict: recommended },
    policies: ({ deny: names }) => [denyTools(names)],
  });
  const offering = pluginNamed('git', { tools: [toolNamed('push')], packs: [pack] });
  const base = createRegistry().use(pluginNamed('other', { tools: [toolNamed('push')] }));
  const before = base.use(pack).use(offering, { prefix: 'git' });
  const after = base.use(offering, { prefix: 'git' }).use(pack);
  for (const registry of [before, after]) {
    expect(await call(registry, 'git_push')).toMatchObject({ kind: 'denied' });
    expect(await call(registry, 'push')).toMatchObject({ kind: 'ok' });
  }
  // Under the name in force it would never hold.
  const misnamed = base.use(offering, { prefix: 'git' }).use(pack, { config: { deny: ['git_push'] } });
  await expect(call(misnamed, 'git_push')).rejects.toMatchObject({ code: 'policy.invalid', reason: 'tool.unknown' });
  // Written for neither of the two plugins.
  const shared = base
    .use(offering, { prefix: 'git' })
    .use(pluginNamed('second', { packs: [pack] }))
    .use(pack);
  expect(await call(shared, 'push')).toMatchObject({ kind: 'denied' });
  expect(await call(shared, 'git_push')).toMatchObject({ kind: 'ok' });
});

test('a policy of a plugin cannot deny the tools of others', async () => {
  const jealous = pluginNamed('jealous', {
    tools: [toolNamed('mine')],
    policies: [{ ...denyTools(['mine']), check: () => deny('No.') }],
  });
  const registry = createRegistry().use(jealous).use(hg);
  expect(await call(registry, 'push')).toMatchObject({ kind: 'ok' });
  expect(await call(registry, 'mine')).toMatchObject({ kind: 'denied' });
});

test('a prompt is made of the sections of plugins and of what they have beside', async () => {
  const guide = markdownSection({
    title: 'Git',
    template: 'Test, then push.',
    tools: [toolNamed('push'), toolNamed('test')],
    policies: [sequentialDependency({ push: ['test'] })],
    taskExamples: [
      {
        objective: 'Ship.',
        outcome: 'Shipped.',
        steps: [{ tool: 'test', description: 'Test.', input: {}, output: 'test' }],
      },
    ],
  });
  const registry = createRegistry()
    .use(pluginNamed('git', { sections: [guide] }), { prefix: 'git' })
    .use(hg);
  const sections = [
    ...registry.sections,
    ...registry.looseTools.map(({ plugin, description, tools }) =>
      markdownSection({ title: plugin, template: description, tools }),
    ),
  ];
  const prompt = createPrompt({ ns: 'tests', key: 'plugins', sections });
  const { text, tools } = prompt.bind({}).render();
  expect(tools.map(({ name }) => name)).toEqual(['git_push', 'git_test', 'push']);
  expect(text).toContain('`git_test`');
  const model = scriptedModel([
    { calls: [callTo('git_push'), callTo('push')] },
    { calls: [callTo('git_test'), callTo('git_push')] },
    { text: 'Done.' },
  ]);
  const session = createSession();
  const run = runAgent({ model, prompt: prompt.bind({}), session, input: 'Go.', policies: registry.policies });
  const kinds: string[] = [];
  for await (const event of run) if (event.type === 'tool-call-end') kinds.push(`${event.name} ${event.outcome.kind}`);
  expect(kinds).toEqual(['git_push denied', 'push ok', 'git_test ok', 'git_push ok']);
});

test('wrappers compose, in whatever order', async () => {
  const source = {
    tools: [toolNamed('push'), toolNamed('test'), toolNamed('tag'), caller('release', 'test', 'push', 'tag')],
    policies: [sequentialDependency({ push: ['test'] })],
  };
  const steps = [
    (toolset: Toolset) => filterTools(toolset, ({ name }) => !name.endsWith('tag')),
    (toolset: Toolset) => limitTools(toolset, { maxCalls: 9 }),
    (toolset: Toolset) => prefixTools(toolset, 'git'),
  ] as const;
  for (const [first, second, third] of permutations(steps)) {
    const { tools, policies } = third(second(first(source)));
    const session = createSession();
    const outcomeOf = (name: string) => executeToolCall(callTo(name), { tools, policies, session, unattended: true });
    expect(tools.map(({ name }) => name)).toEqual(['git_push', 'git_test', 'git_release']);
    expect(await outcomeOf('git_push')).toMatchObject({ kind: 'denied' });
    expect(await outcomeOf('git_release')).toMatchObject({ kind: 'ok', value: ['test', 'push', 'unknown-tool'] });
    expect(await outcomeOf('git_push')).toMatchObject({ kind: 'ok' });
  }
});

test('a limit and an approval are kept under names that were given later', async () => {
  const limited = renameTools(limitTools([toolNamed('push'), toolNamed('tag')], { tools: ['push'], maxCalls: 1 }), {
    push: 'publish',
  });
  const { tools, policies } = approveTools(limited, { tools: ['tag'] });
  const session = createSession();
  const kindOf = async (name: string): Promise<string> =>
    (await executeToolCall(callTo(name), { tools, policies, session, unattended: true })).kind;
  expect(await kindOf('publish')).toBe('ok');
  expect(await kindOf('publish')).toBe('denied');
  expect(await kindOf('tag')).toBe('denied');
  // The name now belongs to another tool.
  const others = { tools: [...tools, toolNamed('push')], policies, session, unattended: true };
  expect(await executeToolCall({ name: 'push', arguments: {} }, others)).toMatchObject({ kind: 'ok' });
});

test('an approval of a tool of a package holds for the code that it was given for', async () => {
  const session = createSession();
  const gated = pluginNamed('git', { tools: [toolNamed('push')], policies: [requireApproval({ tools: ['push'] })] });
  const withDigest = (digest: string) => createRegistry().use(gated, { source: { package: '@acme/git', digest } });
  let asked = 0;
  const approve = () => {
    asked += 1;
    return { type: 'approve', grant: true } as const;
  };
  for (const digest of ['a1', 'a1', 'b2']) {
    const { tools, policies } = withDigest(digest);
    const outcome = await executeToolCall({ name: 'push', arguments: {} }, { tools, policies, session, approve });
    expect(outcome.kind).toBe('ok');
  }
  expect(asked).toBe(2);
});

function permutations<Item>(items: readonly Item[]): readonly (readonly [Item, Item, Item])[] {
  const [a, b, c] = items;
  if (a === undefined || b === undefined || c === undefined) throw new Error('three of them');
  return [
    [a, b, c],
    [a, c, b],
    [b, a, c],
    [b, c, a],
    [c, a, b],
    [c, b, a],
  ];
}
