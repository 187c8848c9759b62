import { execFile } from 'node:child_process';
import { link, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { maxDocumentBytes } from './document.ts';
import { createFileOverrides, fileOverrides } from './files.ts';

const run = promisify(execFile);
const ref = { ns: 'acme/support', key: 'triage', tag: 'latest' };
const way = 'acme/support/triage/latest.json';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-overrides-')));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

async function put(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

const unreadable = (why: string) => ({
  code: 'prompt.invalid',
  reason: 'override.unreadable',
  message: expect.stringContaining(why),
});
const unwritable = (why: string) => ({
  code: 'prompt.invalid',
  reason: 'override.unwritable',
  message: expect.stringContaining(why),
});

test('a document is the file `<ns>/<key>/<tag>.json`, alone there', async () => {
  const store = fileOverrides(folder);
  await store.write(ref, 'one');
  await store.write(ref, 'two');
  await store.write(ref, 'three', { ifAbsent: true });
  await store.write({ ...ref, tag: 'other' }, 'x', { ifAbsent: true });
  expect(await readFile(join(folder, way), 'utf8')).toBe('two');
  expect((await readdir(dirname(join(folder, way)))).sort()).toEqual(['latest.json', 'other.json']);
});

test('the folder is `.holdfast/overrides` where the process is when the store is made', async () => {
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const store = fileOverrides();
  vi.spyOn(process, 'cwd').mockReturnValue('/');
  await store.write(ref, 'one');
  expect(await readFile(join(folder, '.holdfast/overrides', way), 'utf8')).toBe('one');
});

test('the folder may itself be a link, and links in it may lead elsewhere in it', async () => {
  await mkdir(join(folder, 'real/shared'), { recursive: true });
  await symlink(join(folder, 'real'), join(folder, 'link'));
  await symlink('shared', join(folder, 'real/acme'));
  const store = fileOverrides(join(folder, 'link'));
  await store.write(ref, 'one');
  expect(await store.read(ref)).toBe('one');
  expect(await readFile(join(folder, 'real/shared/support/triage/latest.json'), 'utf8')).toBe('one');
});

test.each(['acme', 'acme/support', 'acme/support/triage'])(
  'a link at `%s` that leads out is not followed',
  async (at) => {
    await put(join('outside', way.slice(at.length + 1)), 'theirs');
    await mkdir(dirname(join(folder, 'root', at)), { recursive: true });
    await symlink(join(folder, 'outside'), join(folder, 'root', at));
    const before = await readdir(join(folder, 'outside'), { recursive: true });
    const store = fileOverrides(join(folder, 'root'));
    await expect(store.read(ref)).rejects.toMatchObject(unreadable('leads out of'));
    await expect(store.write(ref, 'ours')).rejects.toMatchObject(unwritable('leads out of'));
    await expect(store.write(ref, 'ours', { ifAbsent: true })).rejects.toMatchObject(unwritable('leads out of'));
    await expect(store.delete(ref)).rejects.toMatchObject(unwritable('leads out of'));
    expect(await readdir(join(folder, 'outside'), { recursive: true })).toEqual(before);
  },
);

test('a document that is a link is not read; writing replaces the link, deleting removes it', async () => {
  await put('secret', 'theirs');
  await put('acme/support/triage/other.json', 'x');
  await symlink(join(folder, 'secret'), join(folder, way));
  const store = fileOverrides(folder);
  await expect(store.read(ref)).rejects.toMatchObject(unreadable('ELOOP'));
  expect(await store.write(ref, 'one', { ifAbsent: true })).toBe(false);
  await store.write(ref, 'one');
  expect(await store.read(ref)).toBe('one');
  await rm(join(folder, way));
  await symlink(join(folder, 'secret'), join(folder, way));
  await store.delete(ref);
  expect(await readFile(join(folder, 'secret'), 'utf8')).toBe('theirs');
});

test.skipIf(process.platform === 'win32')('a pipe in the place of a document is refused at once', async () => {
  await mkdir(dirname(join(folder, way)), { recursive: true });
  await run('mkfifo', [join(folder, way)]);
  await expect(fileOverrides(folder).read(ref)).rejects.toMatchObject(unreadable('it is not a file'));
});

test('a folder in the place of a document', async () => {
  await put(join(way, 'x'), '');
  const store = fileOverrides(folder);
  await expect(store.read(ref)).rejects.toMatchObject(unreadable('it is not a file'));
  await expect(store.write(ref, 'one')).rejects.toMatchObject(unwritable('EISDIR'));
  await expect(store.delete(ref)).rejects.toMatchObject(unwritable(''));
  expect(await readdir(join(folder, 'acme/support/triage'))).toEqual(['latest.json']);
});

test('a file in the place of a folder', async () => {
  await put('acme/support', 'x');
  const store = fileOverrides(folder);
  await expect(store.read(ref)).rejects.toMatchObject(unreadable('ENOTDIR'));
  await expect(store.write(ref, 'one')).rejects.toMatchObject(unwritable('ENOTDIR'));
  await expect(store.delete(ref)).rejects.toMatchObject(unwritable('ENOTDIR'));
});

test('a folder that may not be read, but by a superuser', async () => {
  await put(way, 'one');
  await run('chmod', ['000', join(folder, 'acme')]);
  const reading = fileOverrides(folder).read(ref);
  if (process.getuid?.() === 0) await expect(reading).resolves.toBe('one');
  else await expect(reading).rejects.toMatchObject(unreadable('EACCES'));
  await run('chmod', ['700', join(folder, 'acme')]);
});

test.skipIf(process.platform !== 'linux')('a folder that cannot be created is an error', async () => {
  const store = fileOverrides('/proc/holdfast/overrides');
  await expect(store.write(ref, 'one')).rejects.toMatchObject(unwritable('ENOENT'));
  expect(await store.read(ref)).toBeUndefined();
  await store.delete(ref);
});

test('bytes that are not UTF-8 are refused, a byte order mark is not', async () => {
  await put(way, Uint8Array.of(0x22, 0xff, 0x22));
  await expect(fileOverrides(folder).read(ref)).rejects.toMatchObject(unreadable('not valid'));
  await put(way, '\ufeff{}');
  expect(await fileOverrides(folder).read(ref)).toBe('{}');
});

test('a file of exactly the largest size is read, and no larger one', async () => {
  await put(way, new Uint8Array(maxDocumentBytes).fill(0x20));
  expect(await fileOverrides(folder).read(ref)).toHaveLength(maxDocumentBytes);
  await put(way, new Uint8Array(maxDocumentBytes + 1).fill(0x20));
  await expect(fileOverrides(folder).read(ref)).rejects.toMatchObject(unreadable(`${maxDocumentBytes} is the limit`));
});

test.each([
  { tag: 'latest', before: 'old' },
  { tag: 'absent', before: undefined },
])('a process that is killed before the new $tag has its name leaves what was there', async ({ tag, before }) => {
  const store = fileOverrides(folder);
  const own = { ns: 'tests', key: 'prompt', tag };
  if (before !== undefined) await store.write(own, before);
  const worker = fileURLToPath(new URL('./test-kill-writer.ts', import.meta.url));
  await expect(run(process.execPath, ['--conditions=holdfast-source', worker, folder, tag])).rejects.toMatchObject({
    signal: 'SIGKILL',
  });
  const left = await readdir(join(folder, 'tests/prompt'));
  expect(left.filter((name) => name.endsWith('.tmp'))).toHaveLength(1);
  expect(await store.read(own)).toBe(before);
  expect(await store.write(own, 'new', { ifAbsent: true })).toBe(before === undefined);
  expect(await store.write(own, 'newer')).toBe(true);
  expect(await store.read(own)).toBe('newer');
});

const refuse = (code: string) => () => Promise.reject(Object.assign(new Error(`${code}: no`), { code }));

test('a name that cannot be given leaves what was there, and nothing beside it', async () => {
  await fileOverrides(folder).write(ref, 'old');
  const store = createFileOverrides(folder, { rename: refuse('EPERM'), link });
  await expect(store.write(ref, 'new')).rejects.toMatchObject(unwritable('EPERM: no'));
  expect(await readdir(dirname(join(folder, way)))).toEqual(['latest.json']);
  expect(await store.read(ref)).toBe('old');
});

test('on a disk without links what is there is kept, too', async () => {
  const store = createFileOverrides(folder, { rename, link: refuse('ENOTSUP') });
  expect(await store.write(ref, 'one', { ifAbsent: true })).toBe(true);
  expect(await store.write(ref, 'two', { ifAbsent: true })).toBe(false);
  expect(await store.read(ref)).toBe('one');
  expect(await readdir(dirname(join(folder, way)))).toEqual(['latest.json']);
});

test('a concurrent reader gets one complete document', async () => {
  const store = fileOverrides(folder);
  const texts = Array.from({ length: 10 }, (_, index) => String(index).repeat(200_000));
  await store.write(ref, texts[0] ?? '');
  const writes = texts.map((text) => store.write(ref, text));
  const reads = Array.from({ length: 30 }, () => store.read(ref));
  for (const text of await Promise.all(reads)) expect(texts.includes(text ?? '')).toBe(true);
  await Promise.all(writes);
});

test('a folder and a document of one name do not go together, and that is said', async () => {
  const store = fileOverrides(folder);
  await store.write({ ns: 'a', key: 'b', tag: 'c' }, 'one');
  await expect(store.write({ ns: 'a/b', key: 'c.json', tag: 'd' }, 'two')).rejects.toMatchObject(unwritable('ENOTDIR'));
  expect(await store.read({ ns: 'a', key: 'b', tag: 'c' })).toBe('one');
});
