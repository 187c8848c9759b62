import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { copyHook, readBundle, removeOldCopies } from './copy.ts';
import { hookCommand } from './install.ts';

test('the copy of a hook outlives the package, and another version gets another folder', async () => {
  await using folder = await createFolder({
    'package/guard-hook-main.cjs': "require('./hook.cjs')",
    'package/hook.cjs': '1',
  });
  const host = { environment: { HOLDFAST_HOME: join(folder.path, 'own') }, directory: folder.path };
  const bundle = join(folder.path, 'package');
  const first = await readBundle(bundle, host);
  await copyHook(first);
  const [node, program = ''] = first.words;
  expect(node).toBe(process.execPath);
  expect(program).toMatch(/own\/guard\/bin\/[\w.]+-[0-9a-f]{12}\/guard-hook-main\.cjs$/);

  await writeFile(join(bundle, 'hook.cjs'), '2');
  const second = await readBundle(bundle, host);
  expect(second.words[1]).not.toBe(program);
  await copyHook(second);
  await rm(bundle, { recursive: true });
  expect(await readFile(join(program, '..', 'hook.cjs'), 'utf8')).toBe('1');
  expect((await stat(program)).mode & 0o077).toBe(0);
});

test('a copy that was damaged is mended', async () => {
  await using folder = await createFolder({ 'package/guard-hook-main.cjs': 'whole' });
  const host = { environment: { HOLDFAST_HOME: join(folder.path, 'own') }, directory: folder.path };
  const hook = await readBundle(join(folder.path, 'package'), host);
  await copyHook(hook);
  const program = hook.words[1] ?? '';
  await writeFile(program, 'cut');
  await copyHook(hook);
  expect(await readFile(program, 'utf8')).toBe('whole');
});

test('copies that no settings name any more are removed', async () => {
  await using folder = await createFolder({ 'package/guard-hook-main.cjs': '1' });
  const host = { environment: { HOLDFAST_HOME: join(folder.path, 'own') }, directory: folder.path };
  const copies: string[] = [];
  for (const text of ['1', '2', '3']) {
    await writeFile(join(folder.path, 'package/guard-hook-main.cjs'), text);
    const hook = await readBundle(join(folder.path, 'package'), host);
    await copyHook(hook);
    copies.push(hook.words[1] ?? '');
  }
  const [, second = '', third = ''] = copies;
  const settings = JSON.stringify({ command: hookCommand('codex', 'PreToolUse', ['/node', second]) });
  await removeOldCopies(await readBundle(join(folder.path, 'package'), host), [settings], host);
  const left = await readdir(join(folder.path, 'own/guard/bin'));
  expect(left.toSorted()).toEqual([second, third].map((path) => basename(dirname(path))).toSorted());
});
