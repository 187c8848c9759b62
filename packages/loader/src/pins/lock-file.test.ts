import { execFileSync } from 'node:child_process';
import { readdir, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestClosure } from '../imports/digest.ts';
import { createProject } from '../test-project.ts';
import {
  formatLock,
  type Lock,
  type LockedTool,
  type LockedTools,
  parseLock,
  readLock,
  writeLock,
} from './lock-file.ts';

const hash = 'a'.repeat(64);

function lockedTool(entry = 'plugins/x.mjs', others: Readonly<Record<string, string>> = {}): LockedTool {
  const files = new Map([[entry, hash], ...Object.entries(others)]);
  const packages = new Map([['@some/pack', '1.0.0']]);
  const parameters = { type: 'object', properties: {} };
  return {
    entry,
    files,
    digest: digestClosure(entry, files),
    packages,
    parameters,
    returns: undefined,
    metadata: { description: 'X.' },
  };
}

/** Without plugins, as in older locks. */
const formatTools = (tools: LockedTools): string => formatLock({ tools, plugins: undefined });
const noTools: Lock = { tools: new Map(), plugins: undefined };
const sound = formatTools(new Map([['x', lockedTool()]]));

function codeOf(text: string): string {
  try {
    parseLock(text, 'holdfast.lock');
    return 'taken';
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    expect(thrown.message).toMatch(/^[^\p{Cc}]{1,500}$/u);
    return describeCode(thrown);
  }
}

/** The sound lock with a changed tool. */
function change(changes: Readonly<Record<string, unknown>>): string {
  const lock = JSON.parse(sound);
  return JSON.stringify({ ...lock, tools: { x: { ...lock.tools.x, ...changes } } });
}

/** With these files and the matching digest. */
function withFiles(entry: string, files: Readonly<Record<string, string>>): string {
  return change({ file: entry, files, digest: digestClosure(entry, new Map(Object.entries(files))) });
}

test('a lock round-trips', () => {
  expect(parseLock(sound, 'holdfast.lock')).toEqual({ tools: new Map([['x', lockedTool()]]), plugins: undefined });
  expect(codeOf(change({}))).toBe('taken');
  expect(codeOf(withFiles('a/b c/..d/é.mjs', { 'a/b c/..d/é.mjs': hash }))).toBe('taken');
});

test.each([
  ['an empty file', ''],
  ['half a file', sound.slice(0, -20)],
  ['marks of a merge', `<<<<<<< ours\n${sound}=======\n${sound}>>>>>>> theirs\n`],
  ['two locks', sound + sound],
  ['a byte order mark', `\ufeff${sound}`],
  ['a list', '[]'],
  ['null', 'null'],
  ['a key twice', sound.replace('"version": 1', '"version": 1, "version": 1')],
  ['a tool twice', sound.replace('"tools": {', '"tools": { "x": {},')],
  ['__proto__', sound.replace('"x": {', '"__proto__": {')],
  ['another key', sound.replace('"version": 1', '"version": 1, "more": 1')],
  ['no tools', '{"version":1}'],
  ['tools that are a list', '{"version":1,"tools":[]}'],
  ['a tool that is invalid', '{"version":1,"tools":{"x":null}}'],
  ['a name that is invalid', sound.replace('"x": {', '"X y": {')],
  ['a reserved name', sound.replace('"x": {', '"constructor": {')],
  ['another key of a tool', change({ more: 1 })],
  ['a missing key', sound.replace('"metadata": {', '"meta": {')],
  ['a digest of other files', change({ digest: 'b'.repeat(64) })],
  ['a digest that is a path', change({ digest: '../../..' })],
  ['files that are a list', change({ files: [] })],
  ['files that are invalid', withFiles('plugins/x.mjs', {})],
  ['a hash that is invalid', withFiles('plugins/x.mjs', { 'plugins/x.mjs': 'abc' })],
  ['a hash in capitals', withFiles('plugins/x.mjs', { 'plugins/x.mjs': hash.toUpperCase() })],
  ['a file that is not among them', change({ file: 'plugins/y.mjs' })],
  ['packages that are invalid', change({ packages: { '../x': '1' } })],
  ['a version that is invalid', change({ packages: { x: 1 } })],
  ['a version with an escape', change({ packages: { x: '\u001b[2J' } })],
  ['a schema that is invalid', change({ parameters: 'x' })],
  ['a schema of the result that is invalid', change({ returns: [] })],
  ['metadata that is a text', change({ metadata: 'x' })],
  ['too many levels', change({ metadata: JSON.parse(`${'{"a":'.repeat(90)}1${'}'.repeat(90)}`) })],
  ['invisible characters', sound.replace('"version"', '"\u202e\u001bversion"')],
])('refused: %s', (_, text) => {
  expect(codeOf(text)).toBe('lock.invalid');
});

test.each([
  '/etc/x.mjs',
  '../x.mjs',
  'a/../x.mjs',
  'a/./x.mjs',
  './x.mjs',
  'a//x.mjs',
  'a/',
  '/',
  '',
  '.',
  '..',
  'a\\x.mjs',
  'C:/x.mjs',
  'a\nb.mjs',
])('refused: the path %j, which could point anywhere', (path) =>
  expect(codeOf(withFiles(path, { [path]: hash }))).toBe('lock.invalid'),
);

test.each([2, '1', null, undefined, 1.5])('the version %j is unknown', (version) => {
  expect(codeOf(JSON.stringify({ ...JSON.parse(sound), version }))).toBe('lock.invalid: version');
});

test('property: a truncated or changed lock is refused or has another meaning', () => {
  fc.assert(
    fc.property(fc.nat(sound.length - 2), fc.integer({ min: 32, max: 126 }), (at, code) => {
      expect(codeOf(sound.slice(0, at))).toBe('lock.invalid');
      const changed = sound.slice(0, at) + String.fromCharCode(code) + sound.slice(at + 1);
      if (codeOf(changed) !== 'taken' || changed === sound) return;
      // Blanks between tokens do not matter.
      const isSame = formatLock(parseLock(changed, '')) === sound;
      expect(isSame).toBe(JSON.stringify(JSON.parse(changed)) === JSON.stringify(JSON.parse(sound)));
    }),
    { numRuns: 80 },
  );
});

test('property: a lock has one text for any order of tools, files and keys', () => {
  const path = fc.stringMatching(/^[a-z]{1,3}\.mjs$/);
  const tool = fc
    .tuple(
      path,
      fc.uniqueArray(path, { maxLength: 4 }),
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
    )
    .map(([entry, others, metadata]): LockedTool => {
      const one = lockedTool(
        entry,
        Object.fromEntries(others.filter((other) => other !== entry).map((other) => [other, hash])),
      );
      // JSON only, without keys `__proto__` at any depth: such metadata is refused before it is locked.
      const clean = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value);
      return { ...one, metadata: JSON.parse(JSON.stringify(metadata), clean) };
    });
  const reverse = <Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> => new Map([...map].reverse());
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}_$/), tool, { maxKeys: 5 }), (tools) => {
      const map = new Map(Object.entries(tools));
      const text = formatTools(map);
      const turned = new Map(
        [...reverse(map)].map(([name, one]) => [
          name,
          { ...one, files: reverse(one.files), metadata: Object.fromEntries(Object.entries(one.metadata).reverse()) },
        ]),
      );
      expect(formatTools(turned)).toBe(text);
      expect(formatLock(parseLock(text, ''))).toBe(text);
    }),
  );
});

test('a missing lock, and one that is not a file', async () => {
  await using project = await createProject();
  expect(readLock(project.lock)).toBeUndefined();
  await project.write('real.lock', sound);
  await project.link('holdfast.lock', 'real.lock');
  expect(() => readLock(project.lock)).toThrow(expect.objectContaining({ code: 'lock.invalid', reason: 'unreadable' }));
  await project.remove('holdfast.lock');
  execFileSync('mkfifo', [project.lock]);
  expect(() => readLock(project.lock)).toThrow(expect.objectContaining({ code: 'lock.invalid', reason: 'unreadable' }));
  await project.remove('holdfast.lock');
  await project.write('holdfast.lock/x', '');
  expect(() => readLock(project.lock)).toThrow(expect.objectContaining({ code: 'lock.invalid', reason: 'unreadable' }));
});

test('a lock that is too large is not read', async () => {
  await using project = await createProject({ 'holdfast.lock': '' });
  await truncate(project.lock, 64 * 1024 * 1024 + 1);
  expect(() => readLock(project.lock)).toThrow(
    expect.objectContaining({
      code: 'lock.invalid',
      reason: 'unreadable',
      message: expect.stringContaining('larger than'),
    }),
  );
});

test('a lock that cannot be written', async () => {
  await using project = await createProject({ 'holdfast.lock/x': '' });
  await expect(writeLock(project.lock, noTools)).rejects.toMatchObject({
    code: 'lock.invalid',
    reason: 'unwritable',
  });
  expect(await readdir(project.root)).toEqual(['holdfast.lock', 'plugins']);
});

test('a lock is replaced atomically by a new file', async () => {
  await using project = await createProject({ 'holdfast.lock': sound });
  const before = await stat(project.lock);
  await expect(
    writeLock(project.lock, noTools, () => {
      throw new Error('crash');
    }),
  ).rejects.toMatchObject({ code: 'lock.invalid', reason: 'unwritable' });
  expect(await readFile(project.lock, 'utf8')).toBe(sound);
  expect((await stat(project.lock)).ino).toBe(before.ino);
  await writeLock(project.lock, noTools);
  expect((await stat(project.lock)).ino).not.toBe(before.ino);
  expect(await readdir(project.root)).toEqual(['holdfast.lock', 'plugins']);
  expect(await readFile(join(project.root, 'holdfast.lock'), 'utf8')).toBe('{\n  "tools": {},\n  "version": 1\n}\n');
});
