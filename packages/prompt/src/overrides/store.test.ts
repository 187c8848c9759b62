import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fileOverrides } from './files.ts';
import { memoryOverrides } from './store.ts';

const folder = await mkdtemp(join(tmpdir(), 'holdfast-overrides-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
let folders = 0;

const stores = [
  { name: 'memoryOverrides', create: memoryOverrides },
  {
    name: 'fileOverrides',
    create: () => {
      folders += 1;
      return fileOverrides(join(folder, String(folders), 'not', 'made', 'yet'));
    },
  },
];

const ref = { ns: 'acme/support', key: 'triage', tag: 'latest' };

test.each(stores)('$name: what was written is read, until it is written again or deleted', async ({ create }) => {
  const store = create();
  expect(await store.read(ref)).toBeUndefined();
  expect(await store.write(ref, 'one')).toBe(true);
  expect(await store.read({ ...ref })).toBe('one');
  expect(await store.write(ref, 'Größe 🙂\n')).toBe(true);
  expect(await store.read(ref)).toBe('Größe 🙂\n');
  await store.delete(ref);
  expect(await store.read(ref)).toBeUndefined();
});

test.each(stores)('$name: deleting a missing document is not an error', async ({ create }) => {
  const store = create();
  await store.delete(ref);
  await store.write(ref, 'one');
  await store.delete({ ...ref, tag: 'other' });
  await store.delete({ ...ref, ns: 'other' });
  expect(await store.read(ref)).toBe('one');
});

test.each(stores)('$name: what is there is kept when asked', async ({ create }) => {
  const store = create();
  expect(await store.write(ref, 'one', { ifAbsent: true })).toBe(true);
  expect(await store.write(ref, 'two', { ifAbsent: true })).toBe(false);
  expect(await store.read(ref)).toBe('one');
});

test.each(stores)('$name: of many who write where nothing is, one does', async ({ create }) => {
  const store = create();
  const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(10_000));
  const kept = await Promise.all(texts.map((text) => store.write(ref, text, { ifAbsent: true })));
  expect(kept.filter(Boolean)).toHaveLength(1);
  expect(await store.read(ref)).toBe(texts[kept.indexOf(true)]);
});

test.each(stores)('$name: documents do not meet', async ({ create }) => {
  const store = create();
  const refs = [
    { ns: 'a/b', key: 'c', tag: 'd' },
    { ns: 'a', key: 'b', tag: 'c' },
    { ns: 'a', key: 'b', tag: 'c.d' },
    { ns: 'a/b', key: 'c', tag: 'd.json' },
    { ns: 'a.b', key: 'c', tag: 'd' },
  ];
  for (const each of refs) await store.write(each, JSON.stringify(each));
  for (const each of refs) expect(await store.read(each)).toBe(JSON.stringify(each));
});

const badTags = ['', ' ', 'A/../b', 'A', '..', '.', '.hidden', 'a/b', 'a\\b', 'a\0', 'a\n', '-a', 'é', 'x'.repeat(65)];

const bad = [
  ...badTags.map((value) => ({ part: 'tag', value })),
  ...badTags.map((value) => ({ part: 'key', value })),
  ...['..', '../x', 'a/..', 'a/../b', '/a', 'a/', 'a//b', '', 'A'].map((value) => ({ part: 'ns', value })),
];

test.each(stores.flatMap((store) => bad.map((each) => ({ ...store, ...each }))))(
  '$name: the $part `$value` names nothing',
  async ({ create, part, value }) => {
    const store = create();
    const named = { ...ref, [part]: value };
    const refused = {
      code: 'prompt.invalid',
      reason: 'override.ref',
      message: expect.stringContaining(`\`${part}\` \`${value}\``),
    };
    await expect(store.read(named)).rejects.toMatchObject(refused);
    await expect(store.write(named, 'x')).rejects.toMatchObject(refused);
    await expect(store.delete(named)).rejects.toMatchObject(refused);
  },
);
