import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { definePlugin, type JsonObject, type Plugin, type PluginContributions } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { callTool, codesOf, createProject, type TestProject, toolFile } from '../test-project.ts';
import { testContext } from '../test-tools.ts';
import { compareDefinitions } from './compare.ts';
import { type LoadedPlugin, type LoadPluginOptions, loadPlugin } from './load.ts';
import { makeTool } from './test-plugins.ts';

const folder = 'node_modules/@acme/holdfast-git/tools';

function urlOf({ root }: TestProject, path = `${folder}/`): URL {
  return new URL(path, `${pathToFileURL(root).href}/`);
}

const plugin = (contributions: PluginContributions, setup?: (config: unknown) => PluginContributions): Plugin =>
  definePlugin<unknown>({
    name: 'git',
    version: '1.0.0',
    description: 'Git.',
    holdfast: '*',
    ...(setup === undefined
      ? {}
      : {
          configSchema: jsonSchema({ type: 'object', properties: { word: { type: 'string', default: 'main' } } }),
          setup,
        }),
    ...contributions,
  });

type Loaded = LoadedPlugin & AsyncDisposable;

async function load(given: Plugin, options: LoadPluginOptions = { isolation: 'in-process' }): Promise<Loaded> {
  const loaded = await loadPlugin(given, options);
  return { ...loaded, [Symbol.asyncDispose]: () => loaded.close() };
}

const namesOf = ({ plugin: { tools = [] } }: LoadedPlugin): readonly string[] => tools.map(({ name }) => name);

test("the tools of a plugin's folders are among its tools, with their origin", async () => {
  await using project = await createProject({
    [`${folder}/push.mjs`]: toolFile('push', { body: 'return "pushed";' }),
    [`${folder}/pull.mjs`]: toolFile('pull'),
  });
  await using loaded = await load(plugin({ tools: [makeTool('tag')], toolFolders: [urlOf(project)] }));
  expect(namesOf(loaded)).toEqual(['tag', 'pull', 'push']);
  expect(loaded.plugin.toolFolders).toBeUndefined();
  // Files written there would run.
  expect(loaded.folders).toEqual([join(project.root, folder)]);
  expect(loaded.diagnostics).toEqual([]);
  const digest = createHash('sha256')
    .update(await readFile(join(project.root, folder, 'push.mjs')))
    .digest('hex');
  const origin = { kind: 'plugin', source: 'git: tools/push.mjs', digest };
  expect(loaded.plugin.tools?.[2]).toMatchObject({ name: 'push', origin });
  expect(loaded.definitions.definitions.get('tool:push')).toMatchObject({ origin });
  expect(await callTool(loaded.plugin.tools?.[2])).toBe('pushed');
});

test('installed packages are not trusted more than other folders: own process, same checks', async () => {
  await using project = await createProject({
    [`${folder}/push.mjs`]: toolFile('push', { body: 'return process.pid;' }),
    [`${folder}/made.mjs`]: 'export const METADATA = make();',
    [`${folder}/hidden.mjs`]: toolFile('hidden').replace('Works.', 'Works.\u200b'),
  });
  await using loaded = await load(plugin({ toolFolders: [urlOf(project)] }), {});
  expect(namesOf(loaded)).toEqual(['push']);
  expect(codesOf(loaded)).toEqual([
    'tools/hidden.mjs tool.metadata.invalid: text.hidden',
    expect.stringMatching(/^tools\/made\.mjs tool\./),
  ]);
  const answer = await callTool(loaded.plugin.tools?.[0], testContext());
  expect(answer).toEqual(expect.any(Number));
  expect(answer).not.toBe(process.pid);
});

test('a file that changed after loading does not run, and differs from the lock', async () => {
  await using project = await createProject({ [`${folder}/push.mjs`]: toolFile('push') });
  const given = plugin({ toolFolders: [urlOf(project)] });
  await using before = await load(given);
  await compareDefinitions([before.definitions], project).accept();
  await project.write(`${folder}/push.mjs`, toolFile('push', { body: 'return "worse";' }));
  expect(await callTool(before.plugin.tools?.[0])).toBe('threw tool.file.changed');
  await using after = await load(given);
  expect(compareDefinitions([after.definitions], project).plugins).toMatchObject([
    { id: 'plugin:git', state: 'changed', changes: [{ definition: 'tool:push', field: 'origin' }] },
  ]);
  await project.write(`${folder}/later.mjs`, toolFile('later'));
  await project.remove(`${folder}/push.mjs`);
  await using other = await load(given);
  expect(compareDefinitions([other.definitions], project).plugins[0]?.changes).toMatchObject([
    { definition: 'tool:later', field: '', before: null },
    { definition: 'tool:push', field: '', after: null },
  ]);
});

test('a package that is a link, as created by package managers', async () => {
  await using project = await createProject({ 'store/git/tools/push.mjs': toolFile('push', { body: 'return 7;' }) });
  await project.write('node_modules/@acme/x', '');
  await project.link('node_modules/@acme/holdfast-git', '../../store/git');
  await using loaded = await load(plugin({ toolFolders: [urlOf(project)] }));
  expect(await callTool(loaded.plugin.tools?.[0])).toBe(7);
});

test('`setup` is called once, with validated options, and its contributions come last', async () => {
  await using project = await createProject({
    'one/tools/a.mjs': toolFile('first'),
    'two/tools/a.mjs': toolFile('second'),
  });
  const asked: unknown[] = [];
  const given = plugin({ tools: [makeTool('tag')], toolFolders: [urlOf(project, 'one/tools')] }, (config) => {
    asked.push(config);
    return { tools: [makeTool('push')], toolFolders: [urlOf(project, 'two/tools')] };
  });
  await using loaded = await load(given, { config: { word: 'trunk' }, isolation: 'in-process' });
  expect(namesOf(loaded)).toEqual(['tag', 'push', 'first', 'second']);
  expect(asked).toEqual([{ word: 'trunk' }]);
  expect(loaded.plugin).toMatchObject({ name: 'git', version: '1.0.0', configSchema: undefined });
  expect(loaded.plugin.setup).toBeUndefined();
  await using again = await load(given);
  expect(asked[1]).toEqual({ word: 'main' });
  expect(again.definitions).toEqual(loaded.definitions);
});

test('definitions depend on the options', async () => {
  await using project = await createProject();
  const given = plugin({}, (config) => ({
    tools: [makeTool('push', { dangerous: JSON.stringify(config) === '{"word":"trunk"}' })],
  }));
  await using loaded = await load(given, { source: { package: '@acme/holdfast-git' } });
  await compareDefinitions([loaded.definitions], project).accept();
  await using other = await load(given, { config: { word: 'trunk' }, source: { package: '@acme/holdfast-git' } });
  expect(compareDefinitions([other.definitions], project).plugins[0]?.changes).toEqual([
    { definition: 'tool:push', field: 'dangerous', before: false, after: true },
  ]);
});

test.each<{ title: string; setup: (() => PluginContributions) | undefined; config: JsonObject }>([
  { title: 'of the wrong type', setup: () => ({}), config: { word: 1 } },
  { title: 'that it does not know', setup: () => ({}), config: { words: 'main' } },
  { title: 'where it has none', setup: undefined, config: { word: 'main' } },
])('plugin.invalid: config: options $title', async ({ setup, config }) => {
  await expect(loadPlugin(plugin({}, setup), { config })).rejects.toMatchObject({
    code: 'plugin.invalid',
    reason: 'config',
    message: expect.stringContaining('Invalid options for the plugin `git`'),
  });
});

// The casts stand for an untyped plugin.
test.each<{ title: string; setup: () => unknown; says: string }>([
  {
    title: 'throws',
    setup: () => {
      throw new Error('no \u001b[2J network');
    },
    says: 'its `setup` threw: no \\u{1b}[2J network',
  },
  {
    title: 'throws a value other than an error',
    setup: () => {
      throw null;
    },
    says: 'its `setup` threw',
  },
  { title: 'is asynchronous', setup: async () => ({}), says: 'synchronously' },
  { title: 'rejects', setup: () => Promise.reject(new Error('later')), says: 'synchronously' },
  { title: 'returns nothing', setup: () => undefined, says: 'an object of lists' },
  { title: 'returns a list', setup: () => [], says: 'an object of lists' },
  { title: 'has another key', setup: () => ({ tool: [] }), says: 'the unknown key `tool`' },
  { title: 'has a key like a prototype', setup: () => ({ constructor: [] }), says: 'the unknown key `constructor`' },
  {
    title: 'returns a tool instead of a list',
    setup: () => ({ tools: makeTool('push') }),
    says: '`tools` of its `setup` must be a list',
  },
])('plugin.failed: a `setup` that $title', async ({ setup, says }) => {
  const given = plugin({}, setup as () => PluginContributions);
  await expect(loadPlugin(given)).rejects.toMatchObject({
    code: 'plugin.failed',
    message: expect.stringContaining(says),
  });
});

test('plugin.failed: an invalid options schema', async () => {
  const { setup: _, ...rest } = plugin({});
  const given: Plugin = { ...rest, configSchema: {} as NonNullable<Plugin['configSchema']> };
  await expect(loadPlugin(given)).rejects.toMatchObject({ code: 'plugin.failed' });
});

test.each<{ title: string; toUrl: (project: TestProject) => unknown; reason?: string; code: string }>([
  { title: 'a path', toUrl: ({ plugins }) => plugins, code: 'plugin.invalid' },
  { title: 'another place', toUrl: () => new URL('https://example.com/tools/'), code: 'plugin.invalid' },
  {
    title: 'what is not there',
    toUrl: (project) => urlOf(project, 'nowhere/'),
    code: 'tools.folder.unreadable',
    reason: 'missing',
  },
  {
    title: 'a file',
    toUrl: (project) => urlOf(project, 'plugins/a.mjs'),
    code: 'tools.folder.unreadable',
    reason: 'not_directory',
  },
])('a folder that is $title: $code', async ({ toUrl, code }) => {
  await using project = await createProject({ 'plugins/a.mjs': toolFile('a') });
  const folders = [urlOf(project, 'plugins/'), toUrl(project) as URL];
  await expect(loadPlugin(plugin({ toolFolders: folders }))).rejects.toMatchObject({ code });
});

test('two tools with the same name, one of them in a file', async () => {
  await using project = await createProject({ [`${folder}/push.mjs`]: toolFile('push') });
  const given = plugin({ tools: [makeTool('push')], toolFolders: [urlOf(project)] });
  await expect(loadPlugin(given)).rejects.toMatchObject({
    code: 'plugin.invalid',
    reason: 'definition',
    message: 'Cannot use the plugin `git`: it has two different definitions `tool:push`.',
  });
});
