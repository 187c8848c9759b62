import { HoldfastError } from '@holdfast/core';
import { expect, test } from 'vitest';
import { loadModules } from './load-modules.ts';
import { hashText } from './manifest.ts';
import { memoryModules } from './memory-modules.ts';
import { stringifyModule } from './module-file.ts';
import type { ModuleSource } from './module-source.ts';
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
  const { modules, diagnostics } = await loadModules(memoryModules(files(await hashText('x'))), { signatures });
  expect(modules.size).toBe(0);
  expect(diagnostics).toMatchObject([{ code: 'modules.hash_mismatch', message: expect.stringContaining(hash) }]);
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
