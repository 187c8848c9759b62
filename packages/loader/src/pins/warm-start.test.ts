import { hash } from 'node:crypto';
import { readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LoadedTools, type LoadToolsOptions, loadTools, loadToolsWith } from '../load/tools.ts';
import { compareDefinitions, type DefinitionComparison } from '../plugins/compare.ts';
import { definitionsOf } from '../plugins/definitions.ts';
import { makePlugin, type Said } from '../plugins/test-plugins.ts';
import { callTool, codesOf, createProject, type TestProject, toolFile } from '../test-project.ts';
import { compareLock } from './compare.ts';
import { isRegistryCurrent } from './warm-start.ts';

const files = {
  'plugins/greet.mjs': toolFile('greet', {
    code: "import { word } from '../src/word.mjs'; import { v } from 'pack';",
    body: 'return word + v;',
    more: "returns: { type: 'string' }, timeoutMs: 500, repeat: 'safe', retry: { attempts: 2 },",
  }),
  'plugins/plain.mjs': toolFile('plain')
    .replace(/ {2}parameters.*\n/, '')
    .replace('work(input)', 'work()'),
  'src/word.mjs': "export const word = 'good';",
  'node_modules/pack/package.json': '{"version":"1.0.0","type":"module","main":"index.js"}',
  'node_modules/pack/index.js': 'export const v = 1;',
};

/** Waits until the file system clock has advanced beyond all writes so far. */
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

/** A project with a complete registry. */
async function createWarm(more: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  const project = await createProject({ ...files, ...more });
  // A time that can be restored exactly.
  await utimes(join(project.root, 'src/word.mjs'), 1000, 1000);
  await project.accept();
  await passTick(project);
  await load(project);
  return project;
}

const registryOf = ({ root }: TestProject): string => join(root, '.holdfast/registry.json');

/** The folder `plugins/` in a registry. */
type Folder = Record<string, unknown> & { readonly files: Record<string, number[]> };

/** Edits the folder in the registry. */
async function editRegistry(project: TestProject, edit: (folder: Folder) => void): Promise<void> {
  const registry = JSON.parse(await readFile(registryOf(project), 'utf8'));
  edit(registry.folders['plugins/']);
  await writeFile(registryOf(project), JSON.stringify(registry));
}

test('the registry contains the digest of the lock, and the state of folders and files', async () => {
  await using project = await createWarm();
  const registry = JSON.parse(await readFile(registryOf(project), 'utf8'));
  expect(registry.lock).toBe(hash('sha256', await readFile(project.lock)));
  const stamp = [expect.any(Number), expect.any(Number), expect.any(Number), expect.any(Number)];
  expect(registry.folders).toEqual({
    'plugins/': {
      strict: false,
      subfolders: false,
      scanned: expect.any(Number),
      folders: { plugins: stamp },
      files: { 'plugins/greet.mjs': stamp, 'plugins/plain.mjs': stamp, 'src/word.mjs': stamp },
      warnings: [],
    },
  });
  await editRegistry(project, () => undefined);
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test('an unchanged folder is loaded without reading a file, with the same result', async () => {
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

test('a folder is registered with its warnings, which every load reports', async () => {
  await using project = await createWarm({
    'plugins/bare.mjs': toolFile('bare').replace(" description: 'Works.', dangerous: false,", ''),
  });
  const warm = await load(project);
  expect(warm.isWarm).toBe(true);
  expect(codesOf(warm)).toEqual([
    'bare.mjs tool.metadata.invalid: dangerous.missing',
    'bare.mjs tool.metadata.invalid: description.missing',
  ]);
  const { diagnostics } = await loadTools(project.plugins);
  expect(warm.diagnostics).toEqual(diagnostics);
});

test.each<readonly [string, unknown]>([
  ['none', undefined],
  ['no list', {}],
  ['no object', ['tool.metadata.invalid: dangerous.missing']],
  ['no code', [{ code: 'A\u001b', file: 'a', line: 1, column: 1, message: '', hint: '' }]],
  ['no line', [{ code: 'a.b', file: 'a', line: '1', column: 1, message: '', hint: '' }]],
  ['no text', [{ code: 'a.b', file: 'a', line: 1, column: 1, message: 5, hint: '' }]],
])('a registry whose warnings are %s is recreated', async (_, warnings) => {
  await using project = await createWarm();
  await editRegistry(project, (folder) => {
    folder['warnings'] = warnings;
  });
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test('warnings of a registry are shown without terminal control characters', async () => {
  await using project = await createWarm();
  await editRegistry(project, (folder) => {
    folder['warnings'] = [{ code: 'a.b', file: 'a', line: 1, column: 1, message: '\u001b[2J', hint: '' }];
  });
  const { diagnostics, isWarm } = await load(project);
  expect({ isWarm, severity: diagnostics[0]?.severity }).toEqual({ isWarm: true, severity: 'warning' });
  expect(diagnostics[0]?.message).not.toContain('\u001b');
});

test('a change in the same clock tick as the scan is read again', async () => {
  await using project = await createWarm();
  await editRegistry(project, (folder) => {
    folder['scanned'] = folder.files['src/word.mjs']?.[3];
  });
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
});

test.each<readonly [string, (project: TestProject) => Promise<void>, readonly string[]]>([
  ['a tool file', (project) => project.write('plugins/plain.mjs', toolFile('plain')), ['plain.mjs lock.changed']],
  [
    'a file of the same size',
    (project) => project.write('src/word.mjs', files['src/word.mjs'].replace('good', 'evil')),
    ['greet.mjs lock.changed'],
  ],
  [
    'a file, and its time put back',
    async (project) => {
      const path = join(project.root, 'src/word.mjs');
      await project.write('src/word.mjs', files['src/word.mjs'].replace('good', 'evil'));
      await utimes(path, 1000, 1000);
    },
    ['greet.mjs lock.changed'],
  ],
  [
    'a file that was replaced by itself',
    async (project) => {
      await project.remove('src/word.mjs');
      await project.write('src/word.mjs', files['src/word.mjs']);
    },
    [],
  ],
  ['a missing import', (project) => project.remove('src/word.mjs'), ['greet.mjs tool.import.invalid: missing']],
  [
    'a tool more',
    (project) => project.write('plugins/later.mjs', toolFile('later')),
    ['later.mjs lock.changed: unpinned'],
  ],
  ['a removed tool', (project) => project.remove('plugins/plain.mjs'), ['plain.mjs lock.changed: gone']],
  [
    'a package',
    (project) =>
      project.write(
        'node_modules/pack/package.json',
        files['node_modules/pack/package.json'].replace('1.0.0', '1.0.1'),
      ),
    ['greet.mjs lock.changed'],
  ],
  [
    'a package that now takes precedence',
    (project) => project.write('plugins/node_modules/pack/package.json', '{"version":"1.0.0"}'),
    ['greet.mjs tool.import.invalid: misplaced'],
  ],
  [
    'a link',
    async (project) => {
      await project.write('real.mjs', files['src/word.mjs']);
      await project.link('src/word.mjs', '../real.mjs');
    },
    ['greet.mjs tool.import.invalid: symlink'],
  ],
  [
    'a folder, to a link to where it is now,',
    async (project) => {
      await rename(join(project.root, 'src'), join(project.root, 'real'));
      await project.link('src', 'real');
    },
    ['greet.mjs tool.import.invalid: symlink'],
  ],
  ['the lock', async (project) => project.write('holdfast.lock', ` ${await readFile(project.lock, 'utf8')}`), []],
])('%s changed: the folder is scanned', async (_, change, codes) => {
  await using project = await createWarm();
  expect(await load(project)).toMatchObject({ isWarm: true });
  await change(project);
  const changed = await load(project);
  expect(changed.isWarm).toBe(false);
  expect(codesOf(changed)).toEqual(codes);
});

test('an edited lock takes precedence over the registry', async () => {
  await using project = await createWarm();
  const lock = await readFile(project.lock, 'utf8');
  await writeFile(project.lock, lock.replace('"dangerous": false', '"dangerous": true'));
  expect(codesOf(await load(project))).toEqual(['greet.mjs lock.changed']);
});

test('other options require a scan', async () => {
  await using project = await createWarm();
  expect(await load(project, { strict: true })).toMatchObject({ isWarm: false });
  expect(await load(project)).toMatchObject({ isWarm: false });
  expect(await load(project)).toMatchObject({ isWarm: true });
  expect(await load(project, { subfolders: true })).toMatchObject({ isWarm: false });
});

test('a folder with refused files is scanned every time', async () => {
  await using project = await createWarm({ 'plugins/bad.mjs': '' });
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [{ code: 'tool.metadata.missing' }] });
});

const edits: readonly (readonly [string, (folder: Folder) => void])[] = [
  ['no time', (folder) => delete folder['scanned']],
  ['a time that is a text', (folder) => Object.assign(folder, { scanned: String(folder['scanned']) })],
  ['no word on how it was scanned', (folder) => delete folder['strict']],
  ['no files', (folder) => Object.assign(folder, { files: {} })],
  ['files that are a list', (folder) => Object.assign(folder, { files: [] })],
  ['a file fewer', (folder) => delete folder.files['plugins/greet.mjs']],
  ['no folders', (folder) => Object.assign(folder, { folders: {} })],
  [
    'another folder',
    (folder) => Object.assign(folder, { folders: { src: Object.values(folder['folders'] ?? {})[0] } }),
  ],
  ['a folder that is invalid', (folder) => Object.assign(folder, { folders: { plugins: null } })],
  ['a stamp that is invalid', (folder) => Object.assign(folder.files, { 'src/word.mjs': 1 })],
  ['a stamp that is too long', (folder) => folder.files['src/word.mjs']?.push(1)],
  [
    'a stamp of texts',
    (folder) => Object.assign(folder.files, { 'src/word.mjs': folder.files['src/word.mjs']?.map(String) }),
  ],
  ...['size', 'inode', 'time', 'time of its inode'].map((what, index) => {
    const edit = (folder: Folder): void => {
      const stamp = folder.files['src/word.mjs'] ?? [];
      stamp[index] = (stamp[index] ?? 0) - 1;
    };
    return [`another ${what} of a file`, edit] as const;
  }),
];

test.each(edits)('a registry with %s is recreated', async (_, edit) => {
  await using project = await createWarm();
  await editRegistry(project, edit);
  const loaded = await load(project);
  expect(loaded).toMatchObject({ isWarm: false, diagnostics: [], tools: [{ name: 'greet' }, { name: 'plain' }] });
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test.each<readonly [string, (lock: string, evil: string) => unknown]>([
  ['another lock', (_, evil) => hash('sha256', evil)],
  ['the text of the lock', (lock) => JSON.parse(lock)],
  ['no lock', () => undefined],
])('a registry of %s admits nothing that is not locked', async (_, toLock) => {
  await using project = await createWarm();
  const { folders } = JSON.parse(await readFile(registryOf(project), 'utf8'));
  const lock = await readFile(project.lock, 'utf8');
  const evil = lock.replaceAll('Works.', 'Works evil.');
  await writeFile(registryOf(project), JSON.stringify({ folders, lock: toLock(lock, evil) }));
  const loaded = await load(project);
  expect(loaded).toMatchObject({ isWarm: false, diagnostics: [] });
  expect(loaded.tools.map(({ description }) => description)).toEqual(['Works.', 'Works.']);
});

test('a lock whose digest does not match its files runs nothing, whatever the registry says', async () => {
  await using project = await createWarm();
  const { folders } = JSON.parse(await readFile(registryOf(project), 'utf8'));
  const lock = await readFile(project.lock, 'utf8');
  const [first = '', second = ''] = [...lock.matchAll(/"digest": "(\w+)"/g)].map(([, digest]) => digest);
  const damaged = lock.replace(first, second);
  await writeFile(project.lock, damaged);
  await writeFile(registryOf(project), JSON.stringify({ folders, lock: hash('sha256', damaged) }));
  const loaded = await load(project);
  expect([loaded.isWarm, await callTool(loaded.tools[0])]).toEqual([true, 'threw tool.file.changed']);
  await project.remove('.holdfast/registry.json');
  await expect(load(project)).rejects.toMatchObject({ code: 'lock.invalid' });
});

test('an escaped key in a lock is decoded', async () => {
  const key = { more: "examples: [{ description: 'x', input: { text: 'a' }, output: { '\\n': 1 } }]," };
  await using project = await createProject({ 'plugins/odd.mjs': toolFile('odd', key) });
  await project.accept();
  await passTick(project);
  for (const warm of [false, true]) {
    const { isWarm, tools } = await load(project);
    expect(isWarm).toBe(warm);
    expect(tools[0]?.examples[0]?.output).toEqual({ '\n': 1 });
  }
});

test('a new file in any subfolder is noticed', async () => {
  await using project = await createProject({ 'plugins/deep/er/one.mjs': toolFile('one'), 'plugins/empty/_x': '' });
  const options = { subfolders: true };
  await (await compareLock(project.plugins, { lock: project.lock, ...options })).accept();
  await passTick(project);
  await load(project, options);
  expect(await load(project, options)).toMatchObject({ isWarm: true, files: [{ file: 'deep/er/one.mjs' }] });
  await project.write('plugins/empty/two.mjs', toolFile('two'));
  const loaded = await load(project, options);
  expect(loaded.isWarm).toBe(false);
  expect(codesOf(loaded)).toEqual(['empty/two.mjs lock.changed: unpinned']);
});

test.each([
  ['nothing', ''],
  ['half of it', '{"version":1,"folders":{'],
  ['a list', '[]'],
  ['another version', '{"version":2,"folders":{}}'],
  ['no folders', '{"version":1}'],
  ['a folder that is invalid', '{"version":1,"folders":{"plugins/":1}}'],
  ['__proto__', '{"version":1,"folders":{"__proto__":{}}}'],
  ['a deep one', `${'['.repeat(100_000)}`],
])('a registry that contains %s is recreated', async (_, text) => {
  await using project = await createWarm();
  await writeFile(registryOf(project), text);
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test('a registry that claims a changed file is unchanged still only runs locked code', async () => {
  await using project = await createWarm();
  await project.write('src/word.mjs', "globalThis.holdfastEvil = true; export const word = 'evil';");
  const { size, ino, mtimeMs, ctimeMs } = await stat(join(project.root, 'src/word.mjs'));
  await editRegistry(project, (folder) => {
    folder.files['src/word.mjs'] = [size, ino, mtimeMs, ctimeMs];
    folder['scanned'] = 1e300;
  });
  const loaded = await load(project);
  expect(loaded.isWarm).toBe(true);
  expect(await callTool(loaded.tools[0])).toBe('good1');
  await project.remove('.holdfast/tools');
  const again = await load(project);
  expect([again.isWarm, await callTool(again.tools[0])]).toEqual([true, 'threw tool.file.changed']);
  expect(globalThis).not.toHaveProperty('holdfastEvil');
});

test('a tool file that is a link is checked every time', async () => {
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
  expect(codesOf(await load(project))).toEqual(['linked.mjs lock.changed']);
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

test('a lock with plugins starts warm too; accepting them is noticed', async () => {
  await using project = await createWarm();
  const compare = (said: Said): DefinitionComparison =>
    compareDefinitions([definitionsOf(makePlugin(said))], { lock: project.lock });
  const template = 'Pushes.';
  await compare({ template }).accept();
  await passTick(project);
  const cold = await load(project);
  const warm = await load(project);
  expect([cold.isWarm, warm.isWarm]).toEqual([false, true]);
  expect(warm.diagnostics).toEqual([]);
  expect(await Promise.all(warm.tools.map((tool) => callTool(tool)))).toEqual(['good1', 1]);
  expect(await isRegistryCurrent(project.plugins, { lock: project.lock })).toBe(true);
  expect(compare({ template }).plugins).toMatchObject([{ state: 'same' }]);

  await compare({ template: 'Push.' }).accept();
  expect(await isRegistryCurrent(project.plugins, { lock: project.lock })).toBe(false);
  expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  expect(await load(project)).toMatchObject({ isWarm: true });
});

test('an unwritable registry only costs time', async () => {
  await using project = await createWarm();
  await project.remove('.holdfast/registry.json');
  await project.write('.holdfast/registry.json/x', '');
  for (const _ of [1, 2]) expect(await load(project)).toMatchObject({ isWarm: false, diagnostics: [] });
  expect((await readdir(join(project.root, '.holdfast'))).filter((name) => name.startsWith('.registry'))).toEqual([]);
});

test('a model sees the same tools in the same order without a lock, after a scan and after a warm start', async () => {
  const parameters =
    "{ type: 'object', properties: { zeta: { type: 'string', minLength: 1 }, alpha: { type: 'integer' } } }";
  const source = toolFile('greet', {
    more: "examples: [{ description: 'x', output: 1, input: { zeta: 'a', alpha: 1 } }], returns: { type: 'integer', maximum: 9, minimum: 0 },",
  }).replace(/parameters: \{.*\},\n/, () => `parameters: ${parameters},\n`);
  await using project = await createProject({ 'plugins/greet.mjs': source });
  await project.accept();
  await passTick(project);
  const read = ({ tools }: LoadedTools): string =>
    JSON.stringify(tools.map(({ inputSchema, outputSchema, examples }) => [inputSchema, outputSchema, examples]));
  const open = await loadTools(project.plugins, { isolation: 'in-process' });
  const scanned = await load(project);
  const warm = await load(project);
  expect([scanned.isWarm, warm.isWarm]).toEqual([false, true]);
  expect(read(scanned)).toBe(read(open));
  expect(read(warm)).toBe(read(open));
  expect(read(open)).toMatch(/zeta.*alpha/);
});
