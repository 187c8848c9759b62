import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeCode } from '@holdfast/core/internal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModuleDefinition } from './definition.ts';
import { folderModules } from './folder.ts';
import { type LoadedModules, loadModules } from './load-modules.ts';
import { hashText } from './manifest.ts';
import { stringifyModule } from './module-file.ts';
import { type SaveStep, saveModule, saveModuleWith, takeLock } from './save.ts';
import { fullModule, haggle, reactModule } from './test-files.ts';

let around: string;
let root: string;

beforeEach(async () => {
  around = await mkdtemp(join(tmpdir(), 'holdfast-save-'));
  root = join(around, 'modules');
});

afterEach(() => rm(around, { recursive: true }));

const load = (): Promise<LoadedModules> => loadModules(folderModules(root), { signatures: [haggle] });
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

function simple(id: string, version: string): ModuleDefinition {
  return {
    module_id: id,
    predictor_type: 'predict',
    signature_name: 'npc.merchant',
    demos: [],
    tool_enabled: false,
    metadata: { version },
  };
}

test('a saved module loads unchanged', async () => {
  root = join(around, 'made/with/those/above');
  await saveModule(root, fullModule, { tags: ['npc', 'tools'] });
  await saveModule(root, reactModule);
  const { modules, diagnostics } = await load();
  expect(diagnostics).toEqual([]);
  expect([...modules.values()].map(({ definition, tags }) => ({ definition, tags }))).toEqual([
    { definition: fullModule, tags: ['npc', 'tools'] },
    { definition: reactModule, tags: [] },
  ]);
  expect(await read('npc.merchant.haggle.json')).toBe(stringifyModule(fullModule));
  expect(JSON.parse(await read('manifest.json'))).toEqual({
    version: '1.0',
    modules: {
      'npc.merchant.haggle': {
        path: 'npc.merchant.haggle.json',
        hash: await hashText(stringifyModule(fullModule)),
        tags: ['npc', 'tools'],
      },
      'npc.merchant.react': {
        path: 'npc.merchant.react.json',
        hash: await hashText(stringifyModule(reactModule)),
        tags: [],
      },
    },
  });
  expect(await readdir(join(root, '.holdfast'))).toEqual(['lock']);
});

test('a listed module keeps its path and tags, and other content stays', async () => {
  const others = { broken: 7, 'is fine': { path: '../x' } };
  const entry = { path: 'deep/er/m.json', hash: null, tags: ['a'] };
  await mkdir(root);
  await writeFile(
    join(root, 'manifest.json'),
    `\uFEFF${JSON.stringify({ $schema: 's', version: '1.2', modules: { m: entry, ...others } })}`,
  );
  await saveModule(root, simple('m', '1'));
  await saveModule(root, simple('m', '2'), { tags: ['b'] });
  expect(JSON.parse(await read('manifest.json'))).toEqual({
    $schema: 's',
    version: '1.2',
    modules: { m: { ...entry, hash: await hashText(await read('deep/er/m.json')), tags: ['b'] }, ...others },
  });
  expect((await load()).modules.get('m')?.definition.metadata.version).toBe('2');
});

test('a new module never replaces another module or the manifest', async () => {
  await mkdir(root);
  const modules = { other: { path: 'New.json' }, third: { path: 'new.2.json' } };
  await writeFile(join(root, 'manifest.json'), JSON.stringify({ version: '1.0', modules }));
  await saveModule(root, simple('new', '1'));
  await saveModule(root, simple('Manifest', '1'));
  const { modules: loaded } = await load();
  expect([...loaded.values()].map(({ path }) => path)).toEqual(['new.3.json', 'Manifest.2.json']);
});

const codeOf = async (saving: Promise<void>): Promise<unknown> =>
  saving.then(
    () => 'saved',
    (thrown: { code: string }) => describeCode(thrown),
  );

test.each([
  { name: 'an invalid id', definition: { ...fullModule, module_id: '../x' } },
  { name: 'not JSON', definition: { ...fullModule, metadata: { version: '1', count: 1n } } },
  { name: 'no version', definition: { ...fullModule, metadata: {} } },
  { name: 'an unknown key', definition: { ...fullModule, more: 1 } },
])('a module that could not be loaded again is not saved: $name', async ({ definition }) => {
  // The types would prevent these.
  expect(await codeOf(saveModule(root, definition as unknown as ModuleDefinition))).toBe('modules.invalid: file');
  expect(await readdir(around)).toEqual([]);
});

test('invalid tags, and an id that differs from another only by case', async () => {
  await saveModule(root, simple('m', '1'));
  const before = await read('manifest.json');
  expect(await codeOf(saveModule(root, simple('n', '1'), { tags: [''] }))).toBe('modules.invalid: manifest');
  expect(await codeOf(saveModule(root, simple('M', '1')))).toBe('modules.invalid: id_twin');
  expect(await read('manifest.json')).toBe(before);
  expect((await readdir(root)).toSorted()).toEqual(['.holdfast', 'm.json', 'manifest.json']);
});

test('an invalid manifest is left unchanged', async () => {
  await mkdir(root);
  await writeFile(join(root, 'manifest.json'), '{ "version": "1.0", "modules": {}, }');
  await expect(saveModule(root, simple('m', '1'))).rejects.toMatchObject({
    code: 'modules.invalid',
    reason: 'manifest',
    data: { problems: [{ code: 'modules.invalid', reason: 'manifest', place: '' }] },
  });
  expect(await read('manifest.json')).toBe('{ "version": "1.0", "modules": {}, }');
});

test('never writes outside of the folder', async () => {
  const outside = join(around, 'outside');
  await mkdir(outside);
  await mkdir(root);
  await symlink('../outside', join(root, 'link'));
  await symlink('../outside/planted.json', join(root, 'm.json'));
  const listed = (path: string): string => JSON.stringify({ version: '1.0', modules: { m: { path } } });
  await writeFile(join(root, 'manifest.json'), listed('link/m.json'));
  expect(await codeOf(saveModule(root, simple('m', '1')))).toBe('modules.invalid: path');
  await writeFile(join(root, 'manifest.json'), listed('link/more/m.json'));
  expect(await codeOf(saveModule(root, simple('m', '1')))).toBe('modules.invalid: path');
  // A link in place of the file is replaced, not followed.
  await writeFile(join(root, 'manifest.json'), listed('m.json'));
  expect(await codeOf(saveModule(root, simple('m', '1')))).toBe('saved');
  expect(await readdir(outside)).toEqual([]);
  expect((await load()).diagnostics).toEqual([]);
  await rm(join(root, '.holdfast'), { recursive: true });
  await symlink('../outside', join(root, '.holdfast'));
  expect(await codeOf(saveModule(root, simple('m', '2')))).toBe('modules.invalid: path');
  await rm(join(root, '.holdfast'));
  await mkdir(join(root, '.holdfast'));
  await symlink('../../outside/lock', join(root, '.holdfast/lock'));
  expect(await codeOf(saveModule(root, simple('m', '2')))).toBe('modules.file_failed: unwritable');
  expect(await readdir(outside)).toEqual([]);
});

// Only Linux has handles with paths.
test.runIf(process.platform === 'linux')('a folder that is swapped for a link during the save', async () => {
  const outside = join(around, 'outside');
  await mkdir(outside);
  await mkdir(root);
  const modules = { m: { path: 'deep/m.json' } };
  await writeFile(join(root, 'manifest.json'), JSON.stringify({ version: '1.0', modules }));
  await symlink('../outside', join(root, 'evil'));
  // A save creates a missing folder, which may block the swap.
  const put = (from: string, to: string): Promise<void> =>
    rename(join(root, from), join(root, to)).catch(() => undefined);
  let isOver = false;
  const swap = async (): Promise<void> => {
    while (!isOver) {
      await rm(join(root, 'aside'), { recursive: true, force: true });
      await put('deep', 'aside');
      await put('evil', 'deep');
      await put('deep', 'evil');
      await put('aside', 'deep');
    }
  };
  const swapping = swap();
  const ends = new Set<unknown>();
  // Until swaps and saves have overlapped.
  const isMet = (): boolean => ends.has('saved') && ends.size > 1;
  for (let round = 0; round < 20 || (round < 2_000 && !isMet()); round += 1) {
    ends.add(await codeOf(saveModule(root, simple('m', String(round)))));
  }
  isOver = true;
  await swapping;
  expect(await readdir(outside)).toEqual([]);
  expect(isMet()).toBe(true);
});

test('reports paths that cannot be written', async () => {
  await mkdir(join(root, 'm.json'), { recursive: true });
  expect(await codeOf(saveModule(root, simple('m', '1')))).toBe('modules.file_failed: unwritable');
  await writeFile(join(around, 'file'), '');
  expect(await codeOf(saveModule(join(around, 'file'), simple('m', '1')))).toBe('modules.file_failed: unwritable');
  expect(await codeOf(saveModule(join(around, 'file/deep'), simple('m', '1')))).toBe('modules.file_failed: unwritable');
  expect((await readdir(root)).toSorted()).toEqual(['.holdfast', 'm.json']);
  await rm(join(root, '.holdfast/lock'));
  await mkdir(join(root, '.holdfast/lock'));
  expect(await codeOf(saveModule(root, simple('n', '1')))).toBe('modules.file_failed: unwritable');
});

test.runIf(process.platform === 'linux')('where no folder can be created', async () => {
  expect(await codeOf(saveModule('/proc/nowhere/modules', simple('m', '1')))).toBe('modules.file_failed: unwritable');
});

test('a save that waits too long', async () => {
  await saveModule(root, simple('m', '1'));
  const release = await takeLock(join(root, '.holdfast/lock'), { waitMs: 0 });
  const before = await read('manifest.json');
  expect(await codeOf(saveModuleWith(root, simple('n', '1'), { waitMs: 0 }))).toBe('modules.file_failed: busy');
  expect(await read('manifest.json')).toBe(before);
  release();
  expect(await codeOf(saveModuleWith(root, simple('n', '1'), { waitMs: 0 }))).toBe('saved');
});

const steps: readonly SaveStep[] = ['locked', 'file-written', 'manifest-written', 'manifest-put', 'file-put'];

test.each(steps)('a reader after the step %s gets the old or the new module', async (step) => {
  await saveModule(root, simple('m', 'old'));
  await saveModule(root, simple('other', 'old'));
  let found: LoadedModules | undefined;
  await saveModuleWith(root, simple('m', 'new'), {
    onStep: async (done) => {
      if (done === step) found = await load();
    },
  });
  expect(found?.diagnostics).toEqual([]);
  const isNew = step === 'manifest-put' || step === 'file-put';
  expect(found?.modules.get('m')?.definition.metadata.version).toBe(isNew ? 'new' : 'old');
  expect(found?.modules.get('other')?.definition.metadata.version).toBe('old');
});

function spawnSaver(...parameters: readonly string[]): ChildProcess {
  const saver = fileURLToPath(new URL('./test-saver.ts', import.meta.url));
  const options = ['--conditions=holdfast-source', '--no-warnings', saver, root];
  return spawn(process.execPath, [...options, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The exit code or signal of the process. */
async function runSaver(...parameters: readonly string[]): Promise<unknown> {
  const [code, signal] = await once(spawnSaver(...parameters), 'exit');
  return signal ?? code;
}

test.each([
  { step: 'locked', version: 'old', isNew: false },
  { step: 'file-written', version: 'old', isNew: false },
  { step: 'manifest-written', version: 'old', isNew: false },
  { step: 'manifest-put', version: 'new', isNew: true },
  { step: 'file-put', version: 'new', isNew: true },
])('a process killed after the step $step leaves the $version module', async ({ step, version, isNew }) => {
  await saveModule(root, simple('m', 'old'));
  expect(await runSaver('m', 'new', step)).toBe('SIGKILL');
  expect(await runSaver('first', 'new', step)).toBe('SIGKILL');
  const { modules, diagnostics } = await load();
  expect(diagnostics).toEqual([]);
  expect(modules.get('m')?.definition.metadata.version).toBe(version);
  expect(modules.has('first')).toBe(isNew);
  // No cleanup is needed, and the lock of the dead process is free.
  await saveModuleWith(root, simple('next', 'new'), { waitMs: 5000 });
  const after = await load();
  expect(after.diagnostics).toEqual([]);
  expect(after.modules.get('m')?.definition.metadata.version).toBe(version);
  expect(after.modules.size).toBe(isNew ? 3 : 2);
  expect(await readdir(join(root, '.holdfast'))).toEqual(['lock']);
  for (const { path, hash } of after.modules.values()) expect(await hashText(await read(path))).toBe(hash);
});

test('processes killed at any time leave loadable modules', async () => {
  await saveModule(root, simple('m', '0'));
  for (let saves = 1; saves <= 6; saves += 1) {
    const child = spawnSaver(Array.from({ length: 200 }, () => 'm').join(','), String(saves), '', 'tell');
    const ended = once(child, 'exit');
    let told = 0;
    child.stdout?.on('data', () => {
      told += 1;
      if (told === saves) child.kill('SIGKILL');
    });
    expect((await ended)[1]).toBe('SIGKILL');
    const { modules, diagnostics } = await load();
    expect(diagnostics).toEqual([]);
    expect(modules.get('m')?.definition.metadata.version).toBe(String(saves));
  }
});

test('concurrent saves of several processes lose no entry, and readers never see a broken module', async () => {
  await saveModule(root, simple('shared', 'begin'));
  let met = 0;
  let rounds = 0;
  // Until reads and writes have overlapped, which may take several rounds on a fast disk or a busy machine.
  while (met === 0 && rounds < 20) {
    rounds += 1;
    const writers = ['a', 'b', 'c'].map((name) => {
      const ids = Array.from({ length: 8 }, (_, index) => [`${name}${rounds}-${index}`, 'shared']).flat();
      return runSaver(ids.join(','), name);
    });
    let isOver = false;
    const ended = Promise.all(writers).finally(() => {
      isOver = true;
    });
    const before = 1 + 24 * (rounds - 1);
    while (!isOver) {
      const { modules, diagnostics } = await load();
      expect(diagnostics).toEqual([]);
      if (modules.size > before && modules.size < before + 24) met += 1;
    }
    expect(await ended).toEqual([0, 0, 0]);
    const { modules, diagnostics } = await load();
    expect(diagnostics).toEqual([]);
    expect(modules.size).toBe(1 + 24 * rounds);
    expect(['a', 'b', 'c']).toContain(modules.get('shared')?.definition.metadata.version);
  }
  expect(met).toBeGreaterThan(0);
});

test('many concurrent saves of one process', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
  await Promise.all(ids.map((id) => saveModule(root, simple(id, '1'))));
  const { modules, diagnostics } = await load();
  expect(diagnostics).toEqual([]);
  expect([...modules.keys()].toSorted()).toEqual(ids.toSorted());
});
