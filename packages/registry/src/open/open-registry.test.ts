import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePack, definePlugin, defineTool, HoldfastError, type Pack, type Plugin } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test, vi } from 'vitest';
import type { HoldfastConfig, WorkspaceConfig } from '../config/config.ts';
import { mergeConfig } from '../config/merge.ts';
import { type OpenedRegistry, type OpenRegistryOptions, openRegistry } from './open-registry.ts';
import { createFolder, makers, packageFiles, requiredMakers } from './test-folder.ts';

interface Opening extends Partial<OpenRegistryOptions> {
  readonly config?: HoldfastConfig;
  readonly workspace?: WorkspaceConfig;
  /** From the host's configuration. */
  readonly file?: string;
}

function open(
  directory: string,
  { config = {}, workspace, file = 'holdfast.config.ts', ...options }: Opening,
): Promise<OpenedRegistry> {
  const layers = [
    { layer: 'host', file, config } as const,
    ...(workspace === undefined
      ? []
      : [{ layer: 'workspace', file: 'holdfast.policy.json', config: workspace } as const]),
  ];
  return openRegistry(mergeConfig(layers), { directory, ...options });
}

const codesOf = ({ diagnostics }: OpenedRegistry): readonly string[] => diagnostics.map(describeCode);
const toolsOf = ({ registry }: OpenedRegistry): readonly string[] => registry.tools.map(({ name }) => name);

function makePlugin(name: string, more: Partial<Parameters<typeof definePlugin>[0]> = {}): Plugin {
  const tool = defineTool({ name: `${name}_tool`, description: 'Does it.', execute: () => name });
  return definePlugin({ name, version: '1.0.0', description: 'A plugin.', holdfast: '*', tools: [tool], ...more });
}

function makePack(name: string): Pack {
  const preset = { description: 'As it is.', config: {} };
  return definePack({
    name,
    version: '1.0.0',
    description: 'A pack.',
    configSchema: jsonSchema({ type: 'object', properties: {} }),
    presets: { recommended: preset, strict: preset },
    policies: () => [],
  });
}

test('plugins by value, by package and by path, with their sources', async () => {
  await using folder = await createFolder({
    ...packageFiles('@acme/holdfast-git', 'export default plugin("git");'),
    'conf/mine.mjs': `${makers}export const mine = plugin("mine");`,
  });
  const value = makePlugin('value');
  const opened = await open(folder.path, {
    file: 'conf/holdfast.config.ts',
    config: { plugins: [value, '@acme/holdfast-git', { plugin: './mine.mjs', prefix: 'my' }] },
  });
  expect(codesOf(opened)).toEqual([]);
  expect(toolsOf(opened)).toEqual(['value_tool', 'git_tool', 'my_mine_tool']);
  const digestOf = async (path: string) =>
    createHash('sha256')
      .update(await readFile(join(folder.path, path)))
      .digest('hex');
  const origin = { layer: 'host', file: 'conf/holdfast.config.ts' };
  expect(opened.used.plugins).toEqual([
    { entry: 'value@1.0.0', name: 'value', version: '1.0.0', source: { file: 'conf/holdfast.config.ts' }, origin },
    {
      entry: '@acme/holdfast-git',
      name: 'git',
      version: '1.2.3',
      source: {
        package: '@acme/holdfast-git',
        version: '3.2.1',
        file: 'node_modules/@acme/holdfast-git/entry.js',
        digest: await digestOf('node_modules/@acme/holdfast-git/entry.js'),
      },
      origin,
    },
    {
      entry: './mine.mjs',
      name: 'mine',
      version: '1.2.3',
      prefix: 'my',
      source: { file: 'conf/mine.mjs', digest: await digestOf('conf/mine.mjs') },
      origin,
    },
  ]);
  expect(opened.registry.explain('my_mine_tool')).toMatchObject([
    { kind: 'tool', qualifiedName: 'mine/mine_tool', provenance: { plugin: 'mine', file: 'conf/mine.mjs' } },
  ]);
  expect(opened.paths.map((path) => path.replace(folder.path, ''))).toEqual([
    '/conf/holdfast.config.ts',
    '/node_modules/@acme/holdfast-git',
    '/conf/mine.mjs',
  ]);
});

const entry = 'export default plugin("git");';
const folderOfGit = 'node_modules/git';

/** A package for `require`. */
function commonJsFiles(code: string): Readonly<Record<string, string>> {
  return {
    'node_modules/git/package.json': '{ "main": "entry.js" }',
    'node_modules/git/entry.js': `${requiredMakers}${code}`,
  };
}

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ['CommonJS', commonJsFiles('module.exports = plugin("git");')],
  ['CommonJS of names', commonJsFiles('exports.git = plugin("git");')],
  [
    'CommonJS that a compiler made',
    commonJsFiles("Object.defineProperty(exports, '__esModule', { value: true }); exports.default = plugin('git');"),
  ],
  ['an exports map with conditions', packageFiles('git', entry, { exports: { node: { import: './entry.js' } } })],
  ['exports that are a path', packageFiles('git', entry, { exports: './entry.js' })],
  ['exports that are a list', packageFiles('git', entry, { exports: { '.': [null, { import: './entry.js' }] } })],
  [
    'conditions of others first',
    packageFiles('git', entry, { exports: { require: './gone.cjs', default: './entry.js' } }),
  ],
  ['no exports map, but main', packageFiles('git', entry, { exports: undefined, main: 'entry.js' })],
  ['main without an ending', packageFiles('git', entry, { exports: undefined, main: './entry' })],
  [
    'neither exports nor main',
    {
      [`${folderOfGit}/package.json`]: '{ "type": "module" }',
      [`${folderOfGit}/index.js`]: `${makers}${entry}`,
    },
  ],
  [
    'a manifest with a byte order mark',
    { ...packageFiles('git', entry), [`${folderOfGit}/package.json`]: '\u{feff}{"type":"module","main":"entry.js"}' },
  ],
  ['a named export alone', packageFiles('git', 'export const gitPlugin = plugin("git"); export const more = 7;')],
  [
    'one plugin under two names',
    packageFiles('git', 'export const a = plugin("git"); export const b = a; export { a as c };'),
  ],
  [
    'a plugin beside a pack',
    packageFiles('git', 'export const git = plugin("git"); export const safety = pack("safety");'),
  ],
  [
    'a default among several',
    packageFiles('git', 'export default plugin("git"); export const other = plugin("other");'),
  ],
  ['a peer dependency that holds', packageFiles('git', entry, { peerDependencies: { '@holdfast/core': '>=0.0.0' } })],
  ['a peer of a catalog', packageFiles('git', entry, { peerDependencies: { '@holdfast/core': 'catalog:' } })],
  ['a peer of a pnpm workspace', packageFiles('git', entry, { peerDependencies: { '@holdfast/core': 'workspace:^' } })],
  [
    'odd fields of a manifest',
    packageFiles('git', entry, { version: 7, holdfast: ['plugin'], peerDependencies: 'none' }),
  ],
])('imports a package with %s', async (_, files) => {
  await using folder = await createFolder(files);
  const opened = await open(folder.path, { config: { plugins: ['git'] } });
  expect(opened.diagnostics).toEqual([]);
  expect(toolsOf(opened)).toEqual(['git_tool']);
});

test('finds a package linked by pnpm, and one of a parent folder', async () => {
  await using folder = await createFolder({
    'app/x': '',
    '.pnpm/package.json': '{ "version": "9.0.0", "type": "module", "exports": "./entry.js" }',
    '.pnpm/entry.js': `${makers}export default plugin("linked");`,
    ...packageFiles('far', 'export default plugin("far");'),
  });
  await folder.link('app/node_modules/@acme/linked', '../../../.pnpm');
  const opened = await open(join(folder.path, 'app'), { config: { plugins: ['@acme/linked', 'far'] } });
  expect(toolsOf(opened)).toEqual(['linked_tool', 'far_tool']);
  expect(opened.used.plugins[0]?.source).toMatchObject({
    package: '@acme/linked',
    version: '9.0.0',
    file: 'node_modules/@acme/linked/entry.js',
  });
  expect(opened.paths.map((path) => path.replace(folder.path, ''))).toEqual([
    '/app/holdfast.config.ts',
    '/app/node_modules/@acme/linked',
    '/.pnpm',
    '/node_modules/far',
  ]);
});

const failing: readonly (readonly [string, Readonly<Record<string, string>>, string, string, string])[] = [
  ['plugin.package.failed: missing', {}, 'git', '`npm install git`', 'git'],
  [
    'plugin.package.failed: missing',
    packageFiles('@acme/holdfast-git', 'export default plugin("git");', { holdfast: 'plugin' }),
    '@acme/holdfast-gti',
    'did you mean `@acme/holdfast-git`? If not, run `npm install @acme/holdfast-gti`.',
    'a misspelt name',
  ],
  [
    'plugin.package.failed: missing',
    packageFiles('@acme/holdfast-git', 'export default plugin("git");', { holdfast: 'plugin' }),
    'g',
    'run `npm install g`. Installed plugins: `@acme/holdfast-git`.',
    "a plugin's own name",
  ],
  ['plugin.package.failed: missing', {}, './git.mjs', '`./git.mjs`', 'a path'],
  ['plugin.package.failed: missing', { 'node_modules/git/x': '' }, 'git', 'not installed', 'an empty folder'],
  ['plugin.package.failed: missing', {}, 'fs', 'not installed', 'a part of Node.js'],
  [
    'plugin.package.failed: missing',
    packageFiles('git', '', { exports: './gone.js' }),
    'git',
    'does not exist',
    'a lost file',
  ],
  [
    'plugin.package.failed: invalid',
    packageFiles('git', '', { exports: './../../x.js' }),
    'git',
    'has no entry',
    'outside',
  ],
  [
    'plugin.package.failed: invalid',
    packageFiles('git', '', { exports: { './a': './entry.js' } }),
    'git',
    'has no entry',
    'no root',
  ],
  [
    'plugin.package.failed: invalid',
    packageFiles('git', '', { exports: { '.': null } }),
    'git',
    'has no entry',
    'a closed root',
  ],
  ['plugin.package.failed: invalid', packageFiles('git', '', { exports: 7 }), 'git', 'has no entry', 'exports of 7'],
  [
    'plugin.package.failed: invalid',
    packageFiles('git', '', { exports: { require: './entry.js' } }),
    'git',
    'has no entry',
    'for require',
  ],
  [
    'plugin.package.failed: invalid',
    { 'node_modules/git/package.json': '{' },
    'git',
    'not a JSON object',
    'a broken manifest',
  ],
  ['plugin.package.failed: invalid', { 'git.mjs/x': '' }, './git.mjs', 'not a regular file', 'a folder'],
  ['plugin.package.failed', packageFiles('git', 'throw new Error("no luck");'), 'git', 'no luck', 'throws'],
  ['plugin.package.failed', packageFiles('git', 'throw undefined;'), 'git', 'a thrown undefined', 'throws nothing'],
  ['plugin.package.failed', packageFiles('git', 'export default {'), 'git', 'Cannot import', 'does not parse'],
  ['plugin.package.failed', packageFiles('git', 'plugin("Bad Name");'), 'git', 'Bad Name', 'defines what is none'],
  ['plugin.package.failed: empty', packageFiles('git', ''), 'git', 'create one with `definePlugin`', 'nothing'],
  [
    'plugin.package.failed: empty',
    packageFiles('git', 'export default { type: "plugin" };'),
    'git',
    'does not export a plugin',
    'half of one',
  ],
  [
    'plugin.package.failed: empty',
    packageFiles('git', 'export default pack("a");'),
    'git',
    'list it under `packs`',
    'a pack',
  ],
  [
    'plugin.package.failed: empty',
    packageFiles(
      'git',
      'export const git = new Proxy({}, { get() { throw new Error(); }, getPrototypeOf() { throw 1; } });',
    ),
    'git',
    'does not export a plugin',
    'what cannot be asked',
  ],
  [
    'plugin.package.failed: export.unclear',
    packageFiles('git', 'export const a = plugin("a"); export const b = plugin("b");'),
    'git',
    '`git#a`, `git#b`',
    'two plugins',
  ],
  [
    'plugin.package.failed: export.missing',
    packageFiles('git', 'export const a = plugin("a");'),
    'git#b',
    '`git#a`',
    'another export',
  ],
  [
    'plugin.package.failed: export.missing',
    packageFiles('git', 'export const b = pack("b");'),
    'git#b',
    'no plugin',
    'a pack there',
  ],
  [
    'plugin.package.failed: export.missing',
    packageFiles('git', ''),
    'git#toString',
    'no plugin',
    'what objects inherit',
  ],
  [
    'plugin.failed: version.mismatch',
    packageFiles('git', 'throw new Error("must not run");', { peerDependencies: { '@holdfast/core': '^7.0.0' } }),
    'git',
    'requires Holdfast ^7.0.0',
    'for another Holdfast',
  ],
  [
    'plugin.failed: version.invalid',
    packageFiles('git', 'throw new Error("must not run");', { peerDependencies: { '@holdfast/core': 'newest' } }),
    'git',
    '`newest`',
    'for no version',
  ],
];

test.each(failing)('%s: leaves out only the plugin (%#: $4)', async (code, files, name, part) => {
  await using folder = await createFolder(files);
  const opened = await open(folder.path, { config: { plugins: [name, makePlugin('sound')] } });
  expect(opened.diagnostics).toMatchObject([{ message: expect.stringContaining(part) as string, plugin: name }]);
  expect(codesOf(opened)).toEqual([code]);
  expect(toolsOf(opened)).toEqual(['sound_tool']);
  expect(opened.used.plugins.map((one) => one.name)).toEqual(['sound']);
});

test.each([
  ['plugin.package.failed: missing', {}, 'guard'],
  ['plugin.package.failed', packageFiles('guard', 'throw new Error("no luck");'), 'guard'],
  ['plugin.package.failed: empty', packageFiles('guard', 'export default plugin("git");'), 'guard'],
  [
    'plugin.package.failed: export.unclear',
    packageFiles('guard', 'export const a = pack("a"), b = pack("b");'),
    'guard',
  ],
  ['plugin.package.failed: export.missing', packageFiles('guard', 'export default pack("a");'), 'guard#b'],
  [
    'plugin.failed: version.mismatch',
    packageFiles('guard', 'export default pack("a");', { peerDependencies: { '@holdfast/core': '^7.0.0' } }),
    'guard',
  ],
  ['config.invalid: pack.unknown', {}, 'git/git-safety'],
  [
    'pack.invalid: preset.unknown',
    packageFiles('guard', 'export default pack("a");'),
    { pack: 'guard', preset: 'none' },
  ],
  ['pack.invalid: config', packageFiles('guard', 'export default pack("a");'), { pack: 'guard', config: { tools: 7 } }],
])('%s: nothing runs without a requested pack', async (code, files, pack) => {
  await using folder = await createFolder(files);
  await expect(open(folder.path, { config: { packs: [pack] } })).rejects.toSatisfy(
    (error: { code: string }) => describeCode(error) === code,
  );
});

test('config.invalid: pack.unknown: the pack of a plugin that was left out', async () => {
  const plugin = makePlugin('git', { packs: [makePack('git-safety')], holdfast: '^99.0.0' });
  await using folder = await createFolder();
  const config = { plugins: [plugin], packs: ['git/git-safety'] };
  for (const given of [plugin, '@acme/gone'])
    await expect(open(folder.path, { config: { ...config, plugins: [given] } })).rejects.toMatchObject({
      code: 'config.invalid',
      reason: 'pack.unknown',
      message: expect.stringMatching(
        /`git\/git-safety`.*No packs are offered\. The (?:plugin `git` 1\.0\.0|package `@acme\/gone`) /,
      ) as string,
    });
  const fit = makePlugin('git', { packs: [makePack('git-safety')] });
  const opened = await open(folder.path, { config: { ...config, plugins: [fit] } });
  expect(opened.used.packs).toMatchObject([{ entry: 'git/git-safety', id: 'git-safety' }]);
});

test("a pack offered by a plugin has the plugin's source", async () => {
  await using folder = await createFolder(
    packageFiles('git', 'export const git = plugin("git", { packs: [pack("git-safety", { version: "7.0.0" })] });'),
  );
  const builtIn = [
    { plugin: makePlugin('own', { packs: [makePack('own-guard')] }), options: { source: { package: 'holdfast' } } },
  ];
  const packs = ['git/git-safety', 'own/own-guard'];
  const opened = await open(folder.path, { config: { plugins: ['git'], packs }, builtIn });
  expect(opened.used.packs.map(({ version, source }) => [version, source])).toEqual([
    ['7.0.0', opened.used.plugins[0]?.source],
    ['1.0.0', { package: 'holdfast' }],
  ]);
  expect(opened.used.plugins[0]?.source).toMatchObject({ package: 'git', version: '3.2.1' });
});

test('imports only what the configuration names', async () => {
  await using folder = await createFolder({
    ...packageFiles('named', 'export default plugin("named");'),
    ...packageFiles('other', 'globalThis.holdfastRanUnnamed = true;', { holdfast: 'plugin' }),
  });
  await open(folder.path, { config: { plugins: ['named'] } });
  expect(globalThis).not.toHaveProperty('holdfastRanUnnamed');
});

test('built-in plugins come first, and are not listed as used', async () => {
  await using folder = await createFolder();
  const builtIn = [{ plugin: makePlugin('first'), options: { prefix: 'f' } }];
  const opened = await open(folder.path, { config: { plugins: [makePlugin('second')] }, builtIn });
  expect(toolsOf(opened)).toEqual(['f_first_tool', 'second_tool']);
  expect(opened.used.plugins.map(({ name }) => name)).toEqual(['second']);
});

test('winners of the configuration apply to the registry', async () => {
  const tool = defineTool({ name: 'push', description: 'Does it.', execute: () => 1 });
  await using folder = await createFolder();
  const plugins = [makePlugin('a', { tools: [tool] }), makePlugin('b', { tools: [tool] })];
  await expect(open(folder.path, { config: { plugins } })).rejects.toMatchObject({
    code: 'registry.invalid',
    reason: 'name.conflict',
  });
  const opened = await open(folder.path, { config: { plugins, winners: { push: 'b' } } });
  expect(opened.registry.explain('push').filter(({ inForce }) => inForce)).toMatchObject([{ qualifiedName: 'b/push' }]);
});

const schema = jsonSchema<{ readonly token?: string }>({ type: 'object', properties: { token: { type: 'string' } } });

test('a plugin is prepared before use, with its options and source', async () => {
  await using folder = await createFolder();
  const given: unknown[] = [];
  const plugin = makePlugin('git', { configSchema: schema });
  const opened = await open(folder.path, {
    config: { plugins: [{ plugin, config: { token: 'secret' }, prefix: 'g' }] },
    preparePlugin: (one, more) => {
      given.push([one, more]);
      // Like a loader: more tools, and no options left.
      return makePlugin('git', { tools: [defineTool({ name: 'more', description: 'Does it.', execute: () => 1 })] });
    },
  });
  expect(given).toEqual([[plugin, { source: { file: 'holdfast.config.ts' }, config: { token: 'secret' } }]]);
  expect(toolsOf(opened)).toEqual(['g_more']);
  expect(opened.used.plugins[0]?.configDigest).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(opened.used)).not.toContain('secret');
});

test('tools of configured plugins are dangerous if they declare neither `dangerous` nor `effects`', async () => {
  await using folder = await createFolder();
  const define = (name: string, said: object) =>
    defineTool({ name, description: 'Does it.', execute: () => 1, ...said });
  const tools = [
    define('silent', {}),
    define('worldly', { effects: 'external' }),
    define('safe', { dangerous: false }),
    define('marked', { dangerous: true }),
    define('filed', { origin: { kind: 'file', source: 'filed.mjs' } }),
  ];
  const setup = () => ({ tools: [define('made', {})] });
  const plugin = makePlugin('git', { tools, setup });
  const config = { plugins: [{ plugin, prefix: 'g' }] };
  const { registry } = await open(folder.path, { config, builtIn: [{ plugin: makePlugin('own') }] });
  expect(registry.tools.filter(({ dangerous }) => dangerous).map(({ name }) => name)).toEqual([
    ...['g_silent', 'g_marked', 'g_filed', 'g_made'],
  ]);
  expect(registry.resolve('git/silent')).toMatchObject({ undeclared: true, effects: 'external', repeat: 'never' });
  expect(registry.problems).toMatchObject([
    {
      code: 'registry.invalid',
      reason: 'tool.undeclared',
      plugin: 'git',
      message: expect.stringContaining('`g_silent`'),
    },
    {
      code: 'registry.invalid',
      reason: 'tool.undeclared',
      plugin: 'git',
      message: expect.stringContaining('`g_made`'),
    },
  ]);
});

test('an unsupported plugin is left out before it is prepared', async () => {
  await using folder = await createFolder();
  const prepared: string[] = [];
  const opened = await open(folder.path, {
    config: { plugins: [makePlugin('old', { holdfast: '^99.0.0' }), makePlugin('fit')] },
    preparePlugin: (plugin) => {
      prepared.push(plugin.name);
      return plugin;
    },
  });
  expect(prepared).toEqual(['fit']);
  expect(opened.registry.problems.map(({ plugin, ...kind }) => [describeCode(kind), plugin])).toEqual([
    ['plugin.failed: version.mismatch', 'old'],
    ['registry.invalid: tool.undeclared', 'fit'],
  ]);
  expect(opened.used.plugins.map(({ name }) => name)).toEqual(['fit']);
});

test('an error while preparing leaves out a plugin and is thrown for a pack', async () => {
  await using folder = await createFolder();
  const changed = new HoldfastError('lock.changed', 'It has changed.');
  const config = {
    plugins: [makePlugin('changed'), makePlugin('odd'), makePlugin('sound')],
    packs: [makePack('guard')],
  };
  const opened = await open(folder.path, {
    config,
    preparePlugin: async (plugin) => {
      await Promise.resolve();
      if (plugin.name === 'changed') throw changed;
      if (plugin.name === 'odd') throw new TypeError('odd');
      return plugin;
    },
  });
  expect(opened.diagnostics).toEqual([
    { code: 'lock.changed', message: 'It has changed.', plugin: 'changed@1.0.0' },
    { code: 'plugin.failed', message: 'odd', plugin: 'odd@1.0.0' },
  ]);
  expect(toolsOf(opened)).toEqual(['sound_tool']);
  const seen: unknown[] = [];
  const preparePack = (pack: Pack, { source }: { readonly source: object }): never => {
    seen.push([pack.name, source]);
    throw changed;
  };
  await expect(open(folder.path, { config, preparePack })).rejects.toBe(changed);
  expect(seen).toEqual([['guard', { file: 'holdfast.config.ts' }]]);
});

test('a rejected import does not run: it leaves out a plugin and is thrown for a pack', async () => {
  const canary = (name: string) =>
    `globalThis.holdfastRan = [...(globalThis.holdfastRan ?? []), ${JSON.stringify(name)}];`;
  await using folder = await createFolder({
    ...packageFiles('git', `${canary('git')} export default plugin("git");`),
    ...packageFiles('guard', `${canary('guard')} export default pack("guard");`),
    'own.mjs': `${makers}${canary('own')} export default plugin("own");`,
  });
  const asked: unknown[] = [];
  const changed = new HoldfastError('lock.changed', 'It has changed.');
  const prepareImport: OpenRegistryOptions['prepareImport'] = async (given) => {
    asked.push([given.kind, given.entry, given.source]);
    await Promise.resolve();
    if (given.entry !== './own.mjs') throw changed;
  };
  const opened = await open(folder.path, {
    config: { plugins: ['git', './own.mjs', makePlugin('value')] },
    prepareImport,
  });
  expect(opened.diagnostics).toEqual([{ code: 'lock.changed', message: 'It has changed.', plugin: 'git' }]);
  expect(toolsOf(opened)).toEqual(['own_tool', 'value_tool']);
  await expect(open(folder.path, { config: { packs: ['guard'] }, prepareImport })).rejects.toBe(changed);
  expect(globalThis).toHaveProperty('holdfastRan', ['own']);
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
  expect(asked).toEqual([
    ['plugin', 'git', { package: 'git', version: '3.2.1', file: 'node_modules/git/entry.js', digest }],
    // A value has already run.
    ['plugin', './own.mjs', opened.used.plugins[0]?.source],
    ['pack', 'guard', { package: 'guard', version: '3.2.1', file: 'node_modules/guard/entry.js', digest }],
  ]);
});

test('plugin.invalid: a value that only looks like a plugin is left out', async () => {
  await using folder = await createFolder();
  // As passed by an untyped host.
  const odd = { ...makePlugin('odd'), name: 'Odd Name' } as Plugin;
  const opened = await open(folder.path, { config: { plugins: [odd, makePlugin('sound')] } });
  expect(opened.diagnostics).toEqual([
    { code: 'plugin.invalid', message: expect.stringContaining('`Odd Name`') as string, plugin: 'Odd Name@1.0.0' },
  ]);
  expect(toolsOf(opened)).toEqual(['sound_tool']);
});

test.each([
  ['waits for ever', 'await new Promise(() => undefined); export default plugin("git");'],
  ['is never there', 'export function then() {} export default plugin("git");'],
])('plugin.package.failed: code that %s leaves out only the plugin', async (_, code) => {
  await using folder = await createFolder({
    ...packageFiles('git', code),
    ...packageFiles('guard', code),
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    for (const config of [{ plugins: ['git', makePlugin('sound')] }, { packs: ['guard'] }]) {
      const opening = open(folder.path, { config });
      const settled = Promise.allSettled([opening]);
      await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 100_000 });
      await vi.advanceTimersByTimeAsync(30_000);
      const [result] = await settled;
      if (result.status === 'rejected') {
        expect(config).toHaveProperty('packs');
        expect(result.reason).toMatchObject({ code: 'plugin.package.failed' });
      } else {
        expect(result.value.diagnostics).toMatchObject([
          { code: 'plugin.package.failed', message: expect.stringContaining('did not finish within 30 s') as string },
        ]);
        expect(toolsOf(result.value)).toEqual(['sound_tool']);
      }
    }
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("plugin.invalid: config: invalid options are the host's error", async () => {
  await using folder = await createFolder();
  const config = { plugins: [{ plugin: makePlugin('git', { configSchema: schema }), config: { token: 7 } }] };
  await expect(open(folder.path, { config })).rejects.toMatchObject({ code: 'plugin.invalid', reason: 'config' });
  const preparePlugin = (): never => {
    throw new HoldfastError('plugin.invalid', 'It does not fit.', { data: { reason: 'config' } });
  };
  await expect(open(folder.path, { config, preparePlugin })).rejects.toMatchObject({
    code: 'plugin.invalid',
    reason: 'config',
  });
});
