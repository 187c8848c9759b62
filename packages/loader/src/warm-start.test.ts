import { readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { compareLock } from './compare-lock.ts';
import { type LoadedTools, type LoadToolsOptions, loadToolsWith } from './load-tools.ts';
import { callTool, codesOf, createProject, type TestProject, toolFile } from './test-project.ts';

const files = {
  'plugins/greet.mjs': toolFile('greet', {
    code: "import { word } from '../src/word.mjs'; import { v } from 'pack';",
    body: 'return word + v;',
    more: "returns: { type: 'string' }, timeoutMs: 500,",
  }),
  'plugins/plain.mjs': toolFile('plain')
    .replace(/ {2}parameters.*\n/, '')
    .replace('work(input)', 'work()'),
  'src/word.mjs': "export const word = 'good';",
  'node_modules/pack/package.json': '{"version":"1.0.0","type":"module","main":"index.js"}',
  'node_modules/pack/index.js': 'export const v = 1;',
};

/** Until what was written so far lies before whatever is written next, by the clock of the file system. */
async function passTick(project: TestProject): Promise<void> {
  const probe = join(project.root, 'probe');
  await writeFile(probe, '');
  const { ctimeNs } = await stat(probe, { bigint: true });
  for (;;) {
    await writeFile(probe, '');
    if ((await stat(probe, { bigint: true })).ctimeNs > ctimeNs) return;
  }
}

interface Load extends LoadedTools {
  readonly isWarm: boolean;
}

async function load(project: TestProject, options: LoadToolsOptions = {}): Promise<Load> {
  let isWarm = true;
  const cool = (): void => {
    isWarm = false;
  };
  const loaded = await loadToolsWith(
    project.plugins,
    { lock: project.lock, isolation: 'in-process', ...options },
    { onScanned: cool, onRead: cool },
  );
  return { ...loaded, isWarm };
}

/** A project whose registry has everything. */
async function createWarm(more: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  const project = await createProject({ ...files, ...more });
  // A time that can be put back exactly.
  await utimes(join(project.root, 'src/word.mjs'), 1000, 1000);
  await project.accept();
  await passTick(project);
  await load(project);
  return project;
}

const registryOf = ({ root }: TestProject): string => join(root, '.holdfast/registry.json');

test('a folder in which nothing was touched is loaded without reading a file, and is the same', async () => {
  await using project = await createProject(files);
  await project.accept();
  await passTick(project);
  const cold = await load(project);
  const warm = await load(project);
  expect([cold.isWarm, warm.isWarm]).toEqual([false, true]);
  const describe = ({ tools, ...loaded }: LoadedTools): unknown =>
    JSON.parse(JSON.stringify({ tools, files: loaded.files, diagnostics: loaded.diagnostics }));
  expect(describe(warm)).toEqual(describe(cold));
  expect(await Promise.all(warm.tools.map((tool) => callTool(tool)))).toEqual(['good1', 1]);
  const names = await readdir(join(project.root, '.holdfast'));
  expect(names.sort()).toEqual(['.gitignore', 'registry.json', 'tools']);
});

test('what was changed in the same tick as the scan is read again', async () => {
  await using project = await createWarm();
  const registry = JSON.parse(await readFile(registryOf(project), 'utf8'));
  const folder = registry.folders['plugins/'];
  folder.scanned = folder.stamps['src/word.mjs'][3];
  await writeFile(registryOf(project), JSON.stringify(registry));
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
});

test.each<readonly [string, (project: TestProject) => Promise<void>, readonly string[]]>([
  ['a tool file', (project) => project.write('plugins/plain.mjs', toolFile('plain')), ['plain.mjs tool.lock.changed']],
  [
    'a file of the same size',
    (project) => project.write('src/word.mjs', files['src/word.mjs'].replace('good', 'evil')),
    ['greet.mjs tool.lock.changed'],
  ],
  [
    'a file, and its time put back',
    async (project) => {
      const path = join(project.root, 'src/word.mjs');
      await project.write('src/word.mjs', files['src/word.mjs'].replace('good', 'evil'));
      await utimes(path, 1000, 1000);
    },
    ['greet.mjs tool.lock.changed'],
  ],
  [
    'a file that was replaced by itself',
    async (project) => {
      await project.remove('src/word.mjs');
      await project.write('src/word.mjs', files['src/word.mjs']);
    },
    [],
  ],
  ['an import that is gone', (project) => project.remove('src/word.mjs'), ['greet.mjs tool.import.missing']],
  ['a tool more', (project) => project.write('plugins/later.mjs', toolFile('later')), ['later.mjs tool.lock.unpinned']],
  ['a tool fewer', (project) => project.remove('plugins/plain.mjs'), ['plain.mjs tool.lock.gone']],
  [
    'a package',
    (project) =>
      project.write(
        'node_modules/pack/package.json',
        files['node_modules/pack/package.json'].replace('1.0.0', '1.0.1'),
      ),
    ['greet.mjs tool.lock.changed'],
  ],
  [
    'a package that is found first now',
    (project) => project.write('plugins/node_modules/pack/package.json', '{"version":"1.0.0"}'),
    ['greet.mjs tool.import.package'],
  ],
  [
    'a link',
    async (project) => {
      await project.write('real.mjs', files['src/word.mjs']);
      await project.link('src/word.mjs', '../real.mjs');
    },
    ['greet.mjs tool.import.symlink'],
  ],
  [
    'a folder, to a link to where it is now,',
    async (project) => {
      await rename(join(project.root, 'src'), join(project.root, 'real'));
      await project.link('src', 'real');
    },
    ['greet.mjs tool.import.symlink'],
  ],
  ['the lock', async (project) => project.write('holdfast.lock', ` ${await readFile(project.lock, 'utf8')}`), []],
])('%s has changed: the folder is scanned', async (_, change, codes) => {
  await using project = await createWarm();
  expect(await load(project)).toMatchObject({ isWarm: true });
  await change(project);
  const changed = await load(project);
  expect(changed.isWarm).toBe(false);
  expect(codesOf(changed)).toEqual(codes);
});

test('a lock that was edited decides, whatever the registry says', async () => {
  await using project = await createWarm();
  const lock = await readFile(project.lock, 'utf8');
  await writeFile(project.lock, lock.replace('"dangerous": false', '"dangerous": true'));
  expect(codesOf(await load(project))).toEqual(['greet.mjs tool.lock.changed']);
});

test('what was asked for otherwise is scanned', async () => {
  await using project = await createWarm();
  expect(await load(project, { strict: true })).toMatchObject({ isWarm: false });
  expect(await load(project)).toMatchObject({ isWarm: false });
  expect(await load(project)).toMatchObject({ isWarm: true });
  expect(await load(project, { subfolders: true })).toMatchObject({ isWarm: false });
});

test('a folder with warnings or refused files is scanned every time', async () => {
  await using project = await createWarm({ 'plugins/bad.mjs': '' });
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [{ code: 'tool.metadata.missing' }] });
  await project.remove('plugins/bad.mjs');
  await project.write('plugins/plain.mjs', toolFile('plain', { body: 'return import.meta.url;' }));
  await project.accept();
  await passTick(project);
  for (const _ of [1, 2])
    expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [{ code: 'tool.import.meta' }] });
});

type Edit = (folder: Record<string, JsonObject>) => void;
const edits: readonly (readonly [string, Edit])[] = [
  ['no lock', (folder) => delete folder['lock']],
  ['another lock', (folder) => Object.assign(folder, { lock: 'a'.repeat(64) })],
  ['no time', (folder) => Object.assign(folder, { scanned: 'soon' })],
  ['no tools', (folder) => Object.assign(folder, { tools: [] })],
  ['a tool fewer', (folder) => Object.assign(folder, { tools: { plain: folder['tools']?.['plain'] } })],
  [
    'a tool under another name',
    (folder) =>
      Object.assign(folder, { tools: { ...folder['tools'], greet: undefined, evil: folder['tools']?.['greet'] } }),
  ],
  ['another schema', (folder) => Object.assign(folder['tools']?.['greet'] ?? {}, { parameters: { type: 'object' } })],
  ['a schema that is none', (folder) => Object.assign(folder['tools']?.['greet'] ?? {}, { parameters: 'x' })],
  ['another file', (folder) => Object.assign(folder['tools']?.['greet'] ?? {}, { file: '../../x.mjs' })],
  ['no stamps', (folder) => Object.assign(folder, { stamps: {} })],
  ['a stamp that is none', (folder) => Object.assign(folder['stamps'] ?? {}, { 'src/word.mjs': [1, 2, 3, 4] })],
  [
    'a stamp that is huge',
    (folder) => Object.assign(folder['stamps'] ?? {}, { 'src/word.mjs': ['9'.repeat(1000), '1', '1', '1'] }),
  ],
];

test.each(edits)('a registry with %s is made again', async (_, edit) => {
  await using project = await createWarm();
  const registry = JSON.parse(await readFile(registryOf(project), 'utf8'));
  edit(registry.folders['plugins/']);
  await writeFile(registryOf(project), JSON.stringify(registry));
  const loaded = await load(project);
  expect(loaded).toMatchObject({ isWarm: false, diagnostics: [], tools: [{ name: 'greet' }, { name: 'plain' }] });
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test.each([
  ['nothing', ''],
  ['half of it', '{"version":1,"folders":{'],
  ['a list', '[]'],
  ['another version', '{"version":2,"folders":{}}'],
  ['no folders', '{"version":1}'],
  ['a folder that is none', '{"version":1,"folders":{"plugins/":1}}'],
  ['__proto__', '{"version":1,"folders":{"__proto__":{}}}'],
  ['a deep one', `${'['.repeat(100_000)}`],
])('a registry that holds %s is made again', async (_, text) => {
  await using project = await createWarm();
  await writeFile(registryOf(project), text);
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test('a registry that says of a changed file that it is the same lets nothing run but what is locked', async () => {
  await using project = await createWarm();
  await project.write('src/word.mjs', "globalThis.holdfastEvil = true; export const word = 'evil';");
  const { size, ino, mtimeNs, ctimeNs } = await stat(join(project.root, 'src/word.mjs'), { bigint: true });
  const registry = JSON.parse(await readFile(registryOf(project), 'utf8'));
  const folder = registry.folders['plugins/'];
  folder.stamps['src/word.mjs'] = [size, ino, mtimeNs, ctimeNs].map(String);
  folder.scanned = '9'.repeat(20);
  await writeFile(registryOf(project), JSON.stringify(registry));
  const loaded = await load(project);
  expect(loaded.isWarm).toBe(true);
  expect(await callTool(loaded.tools[0])).toBe('good1');
  await project.remove('.holdfast/tools');
  const again = await load(project);
  expect([again.isWarm, await callTool(again.tools[0])]).toEqual([true, 'threw tool.file.changed']);
  expect(globalThis).not.toHaveProperty('holdfastEvil');
});

test('a tool file that is a link is looked at every time', async () => {
  await using project = await createProject({
    ...files,
    'plugins/_real.mjs': toolFile('linked'),
    'plugins/_other.mjs': toolFile('linked', { body: 'return 2;' }),
  });
  await project.link('plugins/linked.mjs', '_real.mjs');
  await project.accept();
  await passTick(project);
  for (const _ of [1, 2]) expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  await project.link('plugins/linked.mjs', '_other.mjs');
  expect(codesOf(await load(project))).toEqual(['linked.mjs tool.lock.changed']);
});

test('folders of one lock share a registry', async () => {
  await using project = await createWarm({ 'more/far.mjs': toolFile('far') });
  const more = join(project.root, 'more');
  await (await compareLock(more, { lock: project.lock })).accept();
  await load(project);
  await loadToolsWith(more, { lock: project.lock }, {});
  let scans = 0;
  const onScanned = (): void => {
    scans += 1;
  };
  await loadToolsWith(more, { lock: project.lock }, { onScanned });
  await loadToolsWith(project.plugins, { lock: project.lock }, { onScanned });
  expect(scans).toBe(0);
});

test('a registry that cannot be written costs nothing but time', async () => {
  await using project = await createWarm();
  await project.remove('.holdfast/registry.json');
  await project.write('.holdfast/registry.json/x', '');
  for (const _ of [1, 2]) expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  expect((await readdir(join(project.root, '.holdfast'))).filter((name) => name.startsWith('.registry'))).toEqual([]);
});
