import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';

const files = {
  'holdfast.config.ts': 'config',
  'holdfast.lock': 'lock',
  'plugins/registry.json': '{}',
  '.holdfast/sessions/s1.jsonl': 'log',
  'free.txt': '',
};

test.each([
  'holdfast.config.ts',
  'holdfast.config.json',
  'HOLDFAST.CONFIG.TS',
  'packages/app/holdfast.config.mjs',
  './holdfast.lock',
  'holdfast.policy.json',
  'sub/Holdfast.Policy.JSON',
  'a/../Holdfast.Lock',
  'holdfast.lock::$DATA',
  'holdfa\u017ft.lock',
  'hold\u200cfast.lock',
  '.holdfast',
  '.holdfast/sessions/s1.jsonl',
  '.HOLDFAST/sessions/s1.jsonl',
  '.HoldFast/new',
  'nested/.holdfast/x',
  '.holdfast-1-1.tmp',
  'plugins',
  'plugins/registry.json',
  'Plugins/new-tool.ts',
])('path.invalid: protected: write, remove or make `%s`', async (path) => {
  const { view } = memoryFilesystem(files, { protectedPaths: ['./plugins'] }).begin('c1');
  for (const change of [() => view.write(path, 'x'), () => view.remove(path), () => view.makeDirectory(path)]) {
    await expect(change()).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
  }
});

test.each(['.holdfast', '.holdfast/sessions/s1.jsonl', '.HOLDFAST/sessions/s1.jsonl', 'a/.holdfast/x'])(
  'path.invalid: protected: read `%s`',
  async (path) => {
    const { readOnly } = memoryFilesystem(files);
    for (const read of [() => readOnly.read(path), () => readOnly.stat(path), () => readOnly.list(path)]) {
      await expect(read()).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
    }
  },
);

test('configuration, lock file and plugins can be read, and logs are not listed', async () => {
  const { readOnly } = memoryFilesystem(files, { protectedPaths: ['plugins'] });
  expect(await readOnly.readText('holdfast.config.ts')).toBe('config');
  expect(await readOnly.readText('holdfast.lock')).toBe('lock');
  expect(await readOnly.readText('plugins/registry.json')).toBe('{}');
  expect((await readOnly.list('')).map(({ name }) => name)).toEqual([
    'free.txt',
    'holdfast.config.ts',
    'holdfast.lock',
    'plugins',
  ]);
});

test.each(['holdfast', 'holdfast.md', 'holdfast.locks', 'config.ts', 'plugins-old/x', 'my.holdfast'])(
  '`%s` can be written',
  async (path) => {
    const { view } = memoryFilesystem(files, { protectedPaths: ['plugins'] }).begin('c1');
    await view.write(path, 'x');
    expect(await view.readText(path)).toBe('x');
  },
);

test('a protected root makes the whole filesystem read-only', async () => {
  const { view } = memoryFilesystem(files, { protectedPaths: ['.'] }).begin('c1');
  await expect(view.write('free.txt', 'x')).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
});

test('path.invalid: escape: a protected path outside the root throws', () => {
  expect(() => memoryFilesystem({}, { protectedPaths: ['../x'] })).toThrow(
    expect.objectContaining({ code: 'path.invalid', reason: 'escape' }),
  );
});
