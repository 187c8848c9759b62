import { HoldfastError } from '@holdfast/core';
import { expect, test } from 'vitest';
import { loadModules } from './load-modules.ts';
import { hashText, toPendingPath } from './manifest.ts';
import { stringifyModule } from './module-file.ts';
import { type ModuleSource, memoryModules } from './source.ts';
import { fullModule, haggle, listModules, reactModule } from './test-files.ts';

const signatures = [haggle];

test('two modules, by id, with their tags', async () => {
  const files = listModules([fullModule, reactModule]);
  const { modules, diagnostics } = await loadModules(memoryModules(files), { signatures });
  expect(diagnostics).toEqual([]);
  expect([...modules.keys()]).toEqual(['npc.merchant.haggle', 'npc.merchant.react']);
  expect(modules.get('npc.merchant.haggle')).toMatchObject({
    definition: fullModule,
    path: 'npc.merchant.haggle.json',
    hash: await hashText(JSON.stringify(fullModule)),
    tags: ['test'],
    program: { instruction: fullModule.instruction, predictorType: 'chain_of_thought' },
  });
  expect(modules.get('npc.merchant.haggle')?.signature).toBe(haggle);
});

test('no manifest: no modules and a warning', async () => {
  const { modules, diagnostics } = await loadModules(memoryModules(), { signatures });
  expect(modules.size).toBe(0);
  expect(diagnostics).toEqual([
    {
      severity: 'warning',
      code: 'modules.manifest_missing',
      path: 'manifest.json',
      place: '',
      message: '`memory` has no `manifest.json`, and so no modules.',
    },
  ]);
});

test('one of three is broken: two load, one is told of', async () => {
  const files = listModules([fullModule, { module_id: 'broken' }, reactModule]);
  const { modules, diagnostics } = await loadModules(memoryModules(files), { signatures });
  expect([...modules.keys()]).toEqual(['npc.merchant.haggle', 'npc.merchant.react']);
  expect(new Set(diagnostics.map(({ moduleId }) => moduleId))).toEqual(new Set(['broken']));
  expect(diagnostics).toContainEqual(
    expect.objectContaining({ severity: 'error', code: 'modules.file_invalid', path: 'broken.json' }),
  );
});

test('a pinned file has to be the one that was pinned', async () => {
  const text = stringifyModule(fullModule);
  const files = (hash: string | null): Record<string, string> => ({
    'm.json': text,
    'manifest.json': JSON.stringify({ version: '1.0', modules: { [fullModule.module_id]: { path: 'm.json', hash } } }),
  });
  const hash = await hashText(text);
  for (const good of [null, hash, hash.replace('sha256:', ''), hash.toUpperCase().replace('SHA', 'sha')]) {
    const { modules, diagnostics } = await loadModules(memoryModules(files(good)), { signatures });
    expect([modules.size, diagnostics]).toEqual([1, []]);
  }
  const pinned = await hashText('x');
  const { modules, diagnostics } = await loadModules(memoryModules(files(pinned)), { signatures });
  expect(modules.size).toBe(0);
  expect(diagnostics).toMatchObject([
    {
      code: 'modules.hash_mismatch',
      message: expect.stringContaining(`that is \`${pinned}\`, and the file has \`${hash}\``),
    },
  ]);
});

test('a file that is not there, is of another module, or names no signature', async () => {
  const files = listModules([fullModule]);
  const source = memoryModules({
    ...files,
    'other.json': JSON.stringify({ ...fullModule, signature_name: 'toString' }),
    'manifest.json': JSON.stringify({
      version: '1.0',
      modules: { gone: { path: 'gone.json' }, b: { path: 'npc.merchant.haggle.json' }, c: { path: 'other.json' } },
    }),
  });
  const { modules, diagnostics } = await loadModules(source, { signatures });
  expect(modules.size).toBe(0);
  expect(diagnostics).toMatchObject([
    { moduleId: 'gone', code: 'modules.file_missing', path: 'gone.json' },
    { moduleId: 'b', code: 'modules.id_mismatch' },
    { moduleId: 'c', code: 'modules.id_mismatch' },
    { moduleId: 'c', code: 'modules.signature_not_found', message: expect.stringContaining('`npc.merchant`') },
  ]);
});

test.each([[new TextEncoder().encode('{}')], [null], [7]])(
  'a source that gives no text is told of, for the manifest as for a file: %s',
  async (given) => {
    const files = listModules([fullModule]);
    const answering = (paths: readonly string[]): ModuleSource => ({
      ...memoryModules(files),
      read: async (path) => (paths.includes(path) ? (given as unknown as string) : files[path]),
    });
    for (const path of Object.keys(files)) {
      const { modules, diagnostics } = await loadModules(answering([path]), { signatures });
      expect(modules.size).toBe(0);
      expect(diagnostics).toMatchObject([{ code: 'modules.unreadable', path, severity: 'error' }]);
      expect(diagnostics[0]?.message).toContain('the source has to give text');
    }
  },
);

test('signatures of one name', async () => {
  const twice = loadModules(memoryModules(), { signatures: [haggle, haggle] });
  await expect(twice).rejects.toMatchObject({ code: 'modules.signature_duplicate' });
});

test.each([
  {
    thrown: new HoldfastError('modules.too_large', 'Too large.'),
    expected: { code: 'modules.too_large', message: 'Too large.' },
  },
  { thrown: new Error('lost'), expected: { code: 'modules.unreadable', message: '`m.json` cannot be read: lost.' } },
  { thrown: null, expected: { code: 'modules.unreadable' } },
])('what a source rejects with is told of: $expected.code', async ({ thrown, expected }) => {
  const broken = (path: string): ModuleSource => ({
    name: 'broken',
    read: async (asked) => {
      if (asked === path) throw thrown;
      return JSON.stringify({ version: '1.0', modules: { m: { path: 'm.json' } } });
    },
  });
  const { diagnostics } = await loadModules(broken('m.json'), { signatures });
  expect(diagnostics).toMatchObject([{ ...expected, moduleId: 'm', path: 'm.json', severity: 'error' }]);
  expect((await loadModules(broken('manifest.json'), { signatures })).diagnostics).toMatchObject([
    { code: expected.code, path: 'manifest.json', severity: 'error' },
  ]);
});

interface Version {
  readonly manifest: string;
  readonly files: Readonly<Record<string, string>>;
}

const version = async (number: string, { pending = false, isPut = true } = {}): Promise<Version> => {
  const text = stringifyModule({ ...fullModule, metadata: { version: number } });
  const hash = await hashText(text);
  const modules = { [fullModule.module_id]: { path: 'm.json', hash } };
  return {
    manifest: JSON.stringify({ version: '1.0', modules }),
    files: { ...(isPut ? { 'm.json': text } : {}), ...(pending ? { [toPendingPath(hash)]: text } : {}) },
  };
};

/** A source in which something happens after the reads whose numbers are given. */
function changing(
  start: Version,
  changes: Readonly<Record<number, Partial<Version>>>,
): ModuleSource & { reads: number } {
  let now = start;
  const source = {
    name: 'changing',
    reads: 0,
    async read(path: string): Promise<string | undefined> {
      const found = path === 'manifest.json' ? now.manifest : new Map(Object.entries(now.files)).get(path);
      source.reads += 1;
      now = { ...now, ...changes[source.reads] };
      return found;
    },
  };
  return source;
}

const versionOf = async (source: ModuleSource): Promise<unknown> => {
  const { modules, diagnostics } = await loadModules(source, { signatures });
  return diagnostics.length > 0
    ? diagnostics.map(({ code }) => code)
    : modules.get(fullModule.module_id)?.definition.metadata.version;
};

test('a file that waits for its place is the file', async () => {
  const old = await version('old');
  const waiting = await version('new', { pending: true, isPut: false });
  expect(await versionOf(changing(waiting, {}))).toBe('new');
  expect(await versionOf(changing({ ...waiting, files: { ...old.files, ...waiting.files } }, {}))).toBe('new');
});

test('a file that takes its place between two reads is found there', async () => {
  const old = await version('old');
  const put = await version('new');
  // After the manifest and the old file were read.
  expect(await versionOf(changing({ manifest: put.manifest, files: old.files }, { 2: { files: put.files } }))).toBe(
    'new',
  );
  // After it was not found where it waits.
  expect(await versionOf(changing({ manifest: put.manifest, files: old.files }, { 3: { files: put.files } }))).toBe(
    'new',
  );
});

test('a save between the manifest and the file: all is read again', async () => {
  const [old, put] = [await version('old'), await version('new')];
  expect(await versionOf(changing(old, { 1: put }))).toBe('new');
  const gone = { manifest: JSON.stringify({ version: '1.0', modules: {} }), files: {} };
  expect(await versionOf(changing(old, { 1: gone }))).toBeUndefined();
});

test('two saves, after which the manifest is what it was, between the manifest and the look whether it has changed', async () => {
  const [old, put] = [await version('old'), await version('new')];
  expect(await versionOf(changing(old, { 1: put, 4: old }))).toBe('old');
});

test('a folder that never rests is not read for ever, and what does not fit is told', async () => {
  const [old, put] = [await version('old'), await version('new')];
  let reads = 0;
  const restless: ModuleSource = {
    name: 'restless',
    async read(path) {
      reads += 1;
      if (path === 'manifest.json') return `${old.manifest}${' '.repeat(reads)}`;
      return put.files[path];
    },
  };
  expect(await versionOf(restless)).toEqual(['modules.hash_mismatch']);
  expect(reads).toBeLessThan(600);
});

test('a file that does not fit is read a few times, where nobody changes the manifest', async () => {
  const [old, put] = [await version('old'), await version('new')];
  const source = changing({ manifest: old.manifest, files: put.files }, {});
  expect(await versionOf(source)).toEqual(['modules.hash_mismatch']);
  expect(source.reads).toBe(20);
});

test('many modules: in the order of the manifest, a few files at once', async () => {
  const files = listModules(Array.from({ length: 200 }, (_, index) => ({ ...fullModule, module_id: `m${index}` })));
  let now = 0;
  let most = 0;
  const inner = memoryModules(files);
  const source: ModuleSource = {
    name: 'slow',
    async read(path) {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      return await inner.read(path);
    },
  };
  const { modules, diagnostics } = await loadModules(source, { signatures });
  expect(diagnostics).toEqual([]);
  expect([...modules.keys()]).toEqual(Array.from({ length: 200 }, (_, index) => `m${index}`));
  expect(most).toBe(32);
});
