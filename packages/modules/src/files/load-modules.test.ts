import { HoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { loadModules } from './load-modules.ts';
import { hashText, toPendingPath } from './manifest.ts';
import { stringifyModule } from './module-file.ts';
import { type ModuleSource, memoryModules } from './source.ts';
import { fullModule, haggle, listModules, reactModule } from './test-files.ts';

const signatures = [haggle];

test('loads two modules by id, with their tags', async () => {
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

test('without a manifest there are no modules, and a warning', async () => {
  const { modules, diagnostics } = await loadModules(memoryModules(), { signatures });
  expect(modules.size).toBe(0);
  expect(diagnostics).toEqual([
    {
      severity: 'warning',
      code: 'modules.invalid',
      reason: 'manifest_missing',
      path: 'manifest.json',
      place: '',
      message: '`memory` has no `manifest.json`, so no modules are loaded.',
    },
  ]);
});

test('if one of three is broken, two load and one is reported', async () => {
  const files = listModules([fullModule, { module_id: 'broken' }, reactModule]);
  const { modules, diagnostics } = await loadModules(memoryModules(files), { signatures });
  expect([...modules.keys()]).toEqual(['npc.merchant.haggle', 'npc.merchant.react']);
  expect(new Set(diagnostics.map(({ moduleId }) => moduleId))).toEqual(new Set(['broken']));
  expect(diagnostics).toContainEqual(
    expect.objectContaining({ severity: 'error', code: 'modules.invalid', reason: 'file', path: 'broken.json' }),
  );
});

test('a pinned file must match its hash', async () => {
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
      code: 'modules.invalid',
      reason: 'hash_mismatch',
      message: expect.stringContaining(`expected \`${pinned}\`, got \`${hash}\``),
    },
  ]);
});

test('a file that is missing, has another id, or names an unknown signature', async () => {
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
    { moduleId: 'gone', code: 'modules.invalid', reason: 'file_missing', path: 'gone.json' },
    { moduleId: 'b', code: 'modules.invalid', reason: 'id_mismatch' },
    { moduleId: 'c', code: 'modules.invalid', reason: 'id_mismatch' },
    {
      moduleId: 'c',
      code: 'modules.invalid',
      reason: 'signature_not_found',
      message: expect.stringContaining('`npc.merchant`'),
    },
  ]);
});

test.each([[new TextEncoder().encode('{}')], [null], [7]])(
  'a source that does not return text is reported, for the manifest and for a file: %s',
  async (given) => {
    const files = listModules([fullModule]);
    const answering = (paths: readonly string[]): ModuleSource => ({
      ...memoryModules(files),
      read: async (path) => (paths.includes(path) ? (given as unknown as string) : files[path]),
    });
    for (const path of Object.keys(files)) {
      const { modules, diagnostics } = await loadModules(answering([path]), { signatures });
      expect(modules.size).toBe(0);
      expect(diagnostics).toMatchObject([{ code: 'modules.invalid', reason: 'unreadable', path, severity: 'error' }]);
      expect(diagnostics[0]?.message).toContain('the source must return a string');
    }
  },
);

test('signatures with the same name', async () => {
  const twice = loadModules(memoryModules(), { signatures: [haggle, haggle] });
  await expect(twice).rejects.toMatchObject({ code: 'modules.invalid', reason: 'signature_duplicate' });
});

test.each([
  {
    thrown: new HoldfastError('modules.invalid', 'Too large.', { data: { reason: 'too_large' } }),
    expected: { code: 'modules.invalid', reason: 'too_large', message: 'Too large.' },
  },
  {
    thrown: new Error('lost'),
    expected: { code: 'modules.invalid', reason: 'unreadable', message: 'Cannot read `m.json`: lost.' },
  },
  { thrown: null, expected: { code: 'modules.invalid', reason: 'unreadable' } },
])('a rejection of the source is reported: $expected.code', async ({ thrown, expected }) => {
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

/** A source that changes after the reads with the given numbers. */
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
    ? diagnostics.map(describeCode)
    : modules.get(fullModule.module_id)?.definition.metadata.version;
};

test('a pending file counts as the file', async () => {
  const old = await version('old');
  const waiting = await version('new', { pending: true, isPut: false });
  expect(await versionOf(changing(waiting, {}))).toBe('new');
  expect(await versionOf(changing({ ...waiting, files: { ...old.files, ...waiting.files } }, {}))).toBe('new');
});

test('a file that moves to its place between two reads is found', async () => {
  const old = await version('old');
  const put = await version('new');
  // After reading the manifest and the old file.
  expect(await versionOf(changing({ manifest: put.manifest, files: old.files }, { 2: { files: put.files } }))).toBe(
    'new',
  );
  // After not finding the pending file.
  expect(await versionOf(changing({ manifest: put.manifest, files: old.files }, { 3: { files: put.files } }))).toBe(
    'new',
  );
});

test('a save between reading the manifest and the file causes another reading', async () => {
  const [old, put] = [await version('old'), await version('new')];
  expect(await versionOf(changing(old, { 1: put }))).toBe('new');
  const gone = { manifest: JSON.stringify({ version: '1.0', modules: {} }), files: {} };
  expect(await versionOf(changing(old, { 1: gone }))).toBeUndefined();
});

test('two saves that restore the manifest before it is compared', async () => {
  const [old, put] = [await version('old'), await version('new')];
  expect(await versionOf(changing(old, { 1: put, 4: old }))).toBe('old');
});

test('a constantly changing folder is not read forever, and mismatches are reported', async () => {
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
  expect(await versionOf(restless)).toEqual(['modules.invalid: hash_mismatch']);
  expect(reads).toBeLessThan(600);
});

test('a mismatched file is read a few times while the manifest stays the same', async () => {
  const [old, put] = [await version('old'), await version('new')];
  const source = changing({ manifest: old.manifest, files: put.files }, {});
  expect(await versionOf(source)).toEqual(['modules.invalid: hash_mismatch']);
  expect(source.reads).toBe(20);
});

test('loads many modules in manifest order, a few files at a time', async () => {
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
