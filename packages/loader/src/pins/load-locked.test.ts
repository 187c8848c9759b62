import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadTools, loadToolsWith } from '../load/tools.ts';
import { callTool, codesOf, createProject, toolFile } from '../test-project.ts';
import { testContext } from '../test-tools.ts';

const withImport = toolFile('greet', { code: "import { word } from '../src/word.mjs';", body: 'return word;' });
const files = {
  'plugins/greet.mjs': withImport,
  'plugins/plain.mjs': toolFile('plain', { body: "return 'plain';" }),
  'src/word.mjs': "export { word } from './deeper.mjs';",
  'src/deeper.mjs': "export const word = 'good';",
};

test('a tool that matches the lock is loaded, and runs from a copy named by its digest', async () => {
  await using project = await createProject(files);
  await project.accept();
  const { tools, diagnostics } = await project.load();
  expect(diagnostics).toEqual([]);
  expect(tools.map(({ name }) => name)).toEqual(['greet', 'plain']);
  expect(await callTool(tools[0])).toBe('good');
  const digest = tools[0]?.origin?.digest ?? '';
  expect(await readFile(join(project.root, '.holdfast/tools', digest, 'files/plugins/greet.mjs'), 'utf8')).toBe(
    withImport,
  );
});

test.each([
  ['the file itself', 'plugins/greet.mjs', withImport.replace('return word', 'return word + 1')],
  ['its import', 'src/word.mjs', "export const word = 'evil';"],
  ['an import of its import', 'src/deeper.mjs', "export const word = 'evil';"],
  ['only a comment', 'src/deeper.mjs', "export const word = 'good'; //"],
])('%s changed: only this tool is refused, until locked', async (_, path, text) => {
  await using project = await createProject(files);
  await project.accept();
  await project.write(path, text);
  const { tools, diagnostics, files: scanned } = await project.load();
  expect(tools.map(({ name }) => name)).toEqual(['plain']);
  expect(scanned).toMatchObject([{ type: 'refused', file: 'greet.mjs' }, { type: 'tool' }]);
  expect(diagnostics).toMatchObject([
    { code: 'lock.changed', file: 'greet.mjs', message: expect.stringContaining(`\`${path}\``) },
  ]);
  expect(diagnostics[0]?.hint).toContain('`holdfast lock --check --accept greet`');
  await project.accept();
  expect(codesOf(await project.load())).toEqual([]);
});

test('a change after loading has no effect, whether the tool was called before or not', async () => {
  await using project = await createProject(files);
  await project.accept();
  const { tools } = await project.load();
  const early = await project.load();
  expect(await callTool(early.tools[0])).toBe('good');
  await project.write('plugins/greet.mjs', toolFile('greet', { body: "return 'evil';" }));
  await project.write('src/deeper.mjs', "export const word = 'evil';");
  expect(await callTool(tools[0])).toBe('good');
  expect(await callTool(early.tools[0])).toBe('good');
});

test('an unlocked tool is refused; one that is only in the lock is reported', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.write('plugins/later.mjs', toolFile('later'));
  await project.remove('plugins/plain.mjs');
  const loaded = await project.load();
  expect(loaded.tools.map(({ name }) => name)).toEqual(['greet']);
  expect(loaded.diagnostics).toMatchObject([
    { code: 'lock.changed', reason: 'unpinned', file: 'later.mjs', severity: 'error' },
    { code: 'lock.changed', reason: 'gone', file: 'plain.mjs', severity: 'warning' },
  ]);
});

test('a reinstalled package is a difference', async () => {
  await using project = await createProject({
    'plugins/uses.mjs': toolFile('uses', { code: "import { v } from '@some/pack/part.js';", body: 'return v;' }),
    'node_modules/@some/pack/package.json': '{"version":"1.0.0","type":"module"}',
    'node_modules/@some/pack/part.js': 'export const v = 1;',
  });
  await project.accept();
  expect(await callTool((await project.load()).tools[0])).toBe(1);
  await project.write('node_modules/@some/pack/package.json', '{"version":"1.0.1","type":"module"}');
  expect((await project.load()).diagnostics).toMatchObject([
    { code: 'lock.changed', message: expect.stringContaining('package `@some/pack` 1.0.0 -> 1.0.1') },
  ]);
});

test('a symlink in place of an import is refused; one created after loading has no effect', async () => {
  await using project = await createProject({ ...files, 'other/evil.mjs': "export const word = 'evil';" });
  await project.accept();
  const { tools } = await project.load();
  await project.link('src/deeper.mjs', '../other/evil.mjs');
  expect(await callTool(tools[0])).toBe('good');
  expect(codesOf(await project.load())).toEqual(['../src/word.mjs tool.import.invalid: symlink']);
  await project.remove('src/deeper.mjs');
  await project.write('src/deeper.mjs', files['src/deeper.mjs']);
  expect(codesOf(await project.load())).toEqual([]);
  await rename(join(project.root, 'src'), join(project.root, 'real'));
  await project.link('src', 'real');
  expect(codesOf(await project.load())).toEqual(['greet.mjs tool.import.invalid: symlink']);
});

test('a tools folder behind a symlink has its lock beside the real folder', async () => {
  await using project = await createProject(files);
  await mkdir(join(project.root, 'elsewhere'));
  await project.link('elsewhere/plugins', '../plugins');
  await project.accept();
  const { tools } = await loadTools(join(project.root, 'elsewhere/plugins'), {
    lock: project.lock,
    isolation: 'in-process',
  });
  expect(tools).toHaveLength(2);
  await expect(
    loadTools(join(project.root, 'elsewhere/plugins'), { lock: join(project.root, 'elsewhere/holdfast.lock') }),
  ).rejects.toMatchObject({ code: 'lock.invalid', reason: 'outside' });
});

test('a missing lock does not mean that everything may run', async () => {
  await using project = await createProject(files);
  await expect(project.load()).rejects.toMatchObject({ code: 'lock.invalid', reason: 'missing' });
});

test('a file that changes between scan and closure is refused', async () => {
  await using project = await createProject(files);
  await project.accept();
  let swapped = false;
  const loaded = await loadToolsWith(
    project.plugins,
    { lock: project.lock },
    {
      async onScanned() {
        swapped = true;
        await project.write('plugins/plain.mjs', toolFile('plain', { body: "return 'evil';" }));
      },
    },
  );
  expect(swapped).toBe(true);
  expect(codesOf(loaded)).toEqual(['plain.mjs tool.file.changed']);
});

type Damage = (copy: string) => Promise<void>;
const replaceFile = async (path: string, text: string): Promise<void> => {
  await rm(path, { recursive: true });
  await writeFile(path, text);
};
const damages: readonly (readonly [string, Damage])[] = [
  ['another text', (copy) => replaceFile(join(copy, 'files/src/deeper.mjs'), "export const word = 'evil';")],
  ['a file that is missing', (copy) => rm(join(copy, 'files/src/deeper.mjs'))],
  ['a file more', (copy) => writeFile(join(copy, 'files/src/more.mjs'), '')],
  ['another manifest', (copy) => replaceFile(join(copy, 'package.json'), '{"imports":{"#x":"./x.mjs"}}')],
  ['no manifest', (copy) => rm(join(copy, 'package.json'))],
  [
    'packages of its own',
    async (copy) => {
      await mkdir(join(copy, 'node_modules/x'), { recursive: true });
    },
  ],
  ['a file in place of a folder', (copy) => replaceFile(join(copy, 'files'), '')],
  ['nothing at all', (copy) => rm(copy, { recursive: true })],
];

test.each(damages)('a copy with %s is recreated before it runs', async (_, damage) => {
  await using project = await createProject(files);
  await project.accept();
  const { tools } = await project.load();
  const copy = join(project.root, '.holdfast/tools', tools[0]?.origin?.digest ?? '');
  await damage(copy);
  expect(await callTool(tools[0])).toBe('good');
  expect((await readdir(join(project.root, '.holdfast/tools'))).filter((name) => name.startsWith('.'))).toEqual([]);
});

test.each(damages)('a copy with %s whose file changed too does not run', async (_, damage) => {
  await using project = await createProject(files);
  await project.accept();
  const { tools } = await project.load();
  await damage(join(project.root, '.holdfast/tools', tools[0]?.origin?.digest ?? ''));
  await project.write('src/word.mjs', "globalThis.holdfastEvil = true; export const word = 'evil';");
  expect(await callTool(tools[0])).toBe('threw tool.file.changed');
  expect(globalThis).not.toHaveProperty('holdfastEvil');
});

test.each(['.holdfast/node_modules/x/index.js', '.holdfast/tools/node_modules/x/index.js'])(
  'packages at %s would take precedence: nothing runs beside them',
  async (path) => {
    await using project = await createProject(files);
    await project.accept();
    await project.write(path, '');
    const { tools } = await project.load();
    expect(await callTool(tools[0])).toBe('threw tool.file.changed');
  },
);

test('a folder of copies that is a symlink is not used', async () => {
  await using project = await createProject(files);
  await project.accept();
  const { tools } = await project.load();
  await rename(join(project.root, '.holdfast'), join(project.root, 'moved'));
  await project.link('.holdfast', 'moved');
  expect(await callTool(tools[0])).toBe('threw tool.file.import_failed');
  await project.remove('moved/tools');
  expect(codesOf(await project.load())).toEqual([
    'greet.mjs tool.file.import_failed: copy',
    'plain.mjs tool.file.import_failed: copy',
  ]);
});

test('without a writable folder, only tools with existing copies are loaded', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.remove('.holdfast');
  await project.write('.holdfast', 'a file, as in a folder that cannot be written');
  const loaded = await project.load();
  expect(loaded.tools).toEqual([]);
  expect(codesOf(loaded)).toEqual([
    'greet.mjs tool.file.import_failed: copy',
    'plain.mjs tool.file.import_failed: copy',
  ]);
  await expect(project.accept()).rejects.toMatchObject({ code: 'tool.file.import_failed', reason: 'copy' });
});

test('concurrent loads share a copy, even if each finds none', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.remove('.holdfast');
  let waiting = 0;
  let open = (): void => undefined;
  const everyone = new Promise<void>((resolve) => {
    open = resolve;
  });
  const count = 8;
  // Each has written its copy of the first tool before any moves it into place.
  const onCopy = async (step: string): Promise<void> => {
    if (step !== 'written') return;
    waiting += 1;
    if (waiting === count) open();
    await everyone;
  };
  const loads = await Promise.all(
    Array.from({ length: count }, () =>
      loadToolsWith(project.plugins, { lock: project.lock, isolation: 'in-process' }, { onCopy }),
    ),
  );
  for (const { tools, diagnostics } of loads) {
    expect(diagnostics).toEqual([]);
    expect(await Promise.all(tools.map((tool) => callTool(tool)))).toEqual(['good', 'plain']);
  }
  expect((await readdir(join(project.root, '.holdfast/tools'))).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('an existing copy is not written again', async () => {
  await using project = await createProject(files);
  await project.accept();
  const steps: string[] = [];
  const onCopy = (step: string): void => void steps.push(step);
  await loadToolsWith(project.plugins, { lock: project.lock }, { onCopy });
  expect(steps).toEqual([]);
  await project.remove('.holdfast');
  await loadToolsWith(project.plugins, { lock: project.lock }, { onCopy });
  expect(steps).toEqual(['written', 'put', 'written', 'put']);
});

test('tools may share imports, and import each other by path', async () => {
  await using project = await createProject({
    'plugins/a.mjs': toolFile('first', {
      code: "import { two } from './_two.mjs'; export const one = 1;",
      body: 'return two();',
    }),
    'plugins/b.ts': toolFile('second', {
      code: "import { one } from './a.mjs';",
      body: 'return one satisfies number;',
    }),
    'plugins/_two.mjs':
      "import { one } from './a.mjs'; import data from './_data.json' with { type: 'json' }; export const two = () => [one, data];",
    'plugins/_data.json': '{"x":1}',
  });
  await project.accept();
  const { tools, diagnostics } = await project.load();
  expect(diagnostics).toEqual([]);
  expect(await Promise.all(tools.map((tool) => callTool(tool)))).toEqual([[1, { x: 1 }], 1]);
});

test.each(['worker', 'subprocess'] as const)('a %s runs the pinned bytes too', async (isolation) => {
  await using project = await createProject(files);
  await project.accept();
  const { tools, close } = await loadTools(project.plugins, { lock: project.lock, isolation });
  try {
    await project.write('src/deeper.mjs', "export const word = 'evil';");
    expect(await tools[0]?.execute?.({}, testContext())).toBe('good');
    await project.remove('.holdfast/tools');
    expect(await callTool(tools[1], testContext())).toBe('plain');
  } finally {
    await close();
  }
});

test.each(['worker', 'subprocess'] as const)('a late import of a %s loads the pinned file too', async (isolation) => {
  await using project = await createProject({
    'plugins/lazy.mjs': toolFile('lazy', {
      code: 'let calls = 0;',
      body: "calls += 1; return calls === 1 ? 'first' : (await import('./_a%20b.mjs?again')).word;",
    }),
    'plugins/_a b.mjs': "export const word = 'pinned';",
  });
  await project.accept();
  const { tools, close } = await loadTools(project.plugins, { lock: project.lock, isolation });
  try {
    expect(await callTool(tools[0], testContext())).toBe('first');
    const [digest = ''] = await readdir(join(project.root, '.holdfast/tools'));
    const copy = join(project.root, '.holdfast/tools', digest, 'files/plugins/_a b.mjs');
    await chmod(copy, 0o644);
    await writeFile(copy, "export const word = 'evil';");
    expect(await callTool(tools[0], testContext())).toContain('differs from the verified');
  } finally {
    await close();
  }
});

test('copies are ignored by version control', async () => {
  await using project = await createProject(files);
  await project.accept();
  expect(await readFile(join(project.root, '.holdfast/.gitignore'), 'utf8')).toBe('*\n!overrides/\n!overrides/**\n');
  expect(existsSync(join(project.root, '.gitignore'))).toBe(false);
});
