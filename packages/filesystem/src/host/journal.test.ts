import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { hostFilesystem } from '../node.ts';
import { maxJournalBytes } from './journal.ts';
import { endedProcess } from './test-crashes.ts';
import { makeTestFolder, snapshotTree, type TestFolder } from './test-folder.ts';

const token = '2000000000-0a1b2c3d-1';
const mark = 'evil';

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const stamp = { ino: '1', mtimeNs: '1' };
const precious = { version: hash('precious'), size: 8, ...stamp };
const planted = { version: hash('planted'), size: 7 };

interface Head {
  readonly mark?: unknown;
  readonly owner?: unknown;
  readonly changes?: unknown;
  readonly version?: unknown;
}

function toText(head: Head, stamps?: unknown): string {
  const whole = { holdfast: 'journal', version: 1, mark, owner: endedProcess.identify(), changes: [], ...head };
  return `${JSON.stringify(whole)}\n${stamps === undefined ? '' : `${JSON.stringify(stamps)}\n`}`;
}

/** Adds the temporary name that belongs to the key, unless given. */
function named(change: { readonly key: string; readonly [field: string]: unknown }): object {
  return { name: change.key.slice(change.key.lastIndexOf('/') + 1), ...change };
}

function write(change: object): string {
  const whole = named({ key: 'p.txt', ...change });
  return toText({ changes: [{ type: 'write', folder: '', before: null, after: planted, ...whole }] }, [stamp]);
}

/** A workspace with files to lose, planted files where a journal's leftovers would be, and a folder outside. */
async function openWorkspace(): Promise<TestFolder & { readonly root: string }> {
  const folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  for (const place of ['root/src/deep', 'root/empty', 'root/.holdfast', 'outside/empty']) {
    mkdirSync(join(folder.path, place), { recursive: true });
  }
  const names = ['p.txt', 'src/p.txt', 'src/deep/p.txt', 'holdfast.lock', '.holdfast/log.jsonl', 'holdfast.config.ts'];
  for (const name of names) writeFileSync(join(root, name), 'precious');
  writeFileSync(join(folder.path, 'outside/p.txt'), 'precious');
  writeFileSync(join(folder.path, 'outside/.holdfast-x.tmp'), 'precious');
  symlinkSync('../outside', join(root, 'link'));
  return { root, path: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Settles everything, first in one way and then in the other. */
async function settle(root: string, committed = false): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  const files = hostFilesystem(root);
  for (const run of [
    () => files.unsettled?.(),
    () => files.recover?.(mark, committed),
    () => files.recover?.(mark, !committed),
    () => files.unsettled?.(),
  ]) {
    results.push(
      await Promise.resolve(run()).catch((error: unknown) =>
        error instanceof Error && 'code' in error ? error.code : error,
      ),
    );
  }
  return results;
}

function withoutJournals(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => !/\.(?:journal|done)$/u.test(key)));
}

const removal = { type: 'remove-directory', key: 'empty', ino: '1', mode: 0 };

const refused: readonly (readonly [string, string])[] = [
  ['nothing but a line', '\n'],
  ['not JSON', '{"holdfast":"journal",\n[]\n'],
  ['JSON of another kind', '[1]\n[]\n'],
  ['too deep', `${'['.repeat(200_000)}\n`],
  ['another version', toText({ version: 2 }, [])],
  ['a mark that is not text', toText({ mark: {} }, [])],
  ['no owner', toText({ owner: null }, [])],
  ['a process group as owner', toText({ owner: { ...endedProcess.identify(), pid: -1 } }, [])],
  ['changes that are not a list', toText({ changes: { length: 1 } }, [])],
  ['a change of an unknown type', toText({ changes: [{ type: 'chmod', key: 'p.txt' }] }, [null])],
  ['more stamps than changes', toText({ changes: [] }, [stamp])],
  ['an unexpected stamp', toText({ changes: [{ type: 'make-directory', key: 'x' }] }, [stamp])],
  ['more than two lines', `${toText({ changes: [] }, [])}x`],
  ...[
    '../outside/p.txt',
    '/etc/passwd',
    'src/../../outside/p.txt',
    'src//p.txt',
    './p.txt',
    '',
    'C:/p.txt',
    'a\\b',
  ].map((key) => [`the key ${JSON.stringify(key)}`, write({ key })] as const),
  ...['../outside', '/', 'empty', '..', 'src/..', 'p.txt', 7].map(
    (folder) => [`the folder ${JSON.stringify(folder)}`, write({ folder })] as const,
  ),
  ...['../p.txt', '..', 'other.txt', ''].map((name) => [`the name ${JSON.stringify(name)}`, write({ name })] as const),
  ['an invalid size', write({ after: { ...planted, size: -1 } })],
  ['an invalid mode', toText({ changes: [named({ ...removal, mode: 0o10000 })] }, [null])],
  ['an invalid number', toText({ changes: [named({ ...removal, ino: '../x' })] }, [null])],
];

test.each(refused)('a journal with %s is left alone, and nothing is touched', async (_what, text) => {
  await using folder = await openWorkspace();
  await writeFile(join(folder.root, `.holdfast-${token}.journal`), text);
  const tree = snapshotTree(folder.path);
  expect(await settle(folder.root)).toEqual([[], undefined, undefined, []]);
  expect(snapshotTree(folder.path)).toEqual(tree);
});

test.each<{ readonly what: string; readonly make: (path: string) => Promise<unknown> }>([
  { what: 'a link', make: (path) => symlink('../outside/p.txt', path) },
  { what: 'a folder', make: (path) => mkdir(path) },
  { what: 'huge', make: (path) => writeFile(path, `${toText({ mark: null }, [])}`.padEnd(maxJournalBytes + 1, ' ')) },
])('a journal that is $what is left alone', async ({ make }) => {
  await using folder = await openWorkspace();
  const path = join(folder.root, `.holdfast-${token}.journal`);
  await make(path);
  const { ino } = await lstat(path);
  expect(await settle(folder.root)).toEqual([[], undefined, undefined, []]);
  expect((await lstat(path)).ino).toBe(ino);
});

test.each([
  ...[
    { key: 'p.txt', before: null, after: { version: hash('precious'), size: 8 } },
    { key: 'p.txt', before: precious },
    { key: 'p.txt', before: precious, after: { version: hash('precious'), size: 8 } },
    { key: 'src/p.txt', folder: 'src', before: precious },
    { key: 'link/p.txt', folder: 'link', before: precious },
    { key: 'link/new.txt', folder: 'link', before: null },
    { key: 'link/new.txt', before: null },
  ].map((change) => ({ change: { type: 'write', folder: '', after: planted, ...change }, stamps: [stamp] })),
  ...[
    { type: 'remove-file', key: 'p.txt', folder: '', before: precious },
    { type: 'remove-file', key: 'link/p.txt', folder: 'link', before: precious },
    { type: 'remove-file', key: 'link/p.txt', folder: '', before: precious },
    { type: 'remove-directory', key: 'empty', ino: '1', mode: 0 },
    { type: 'remove-directory', key: 'link', ino: '1', mode: 0 },
    { type: 'remove-directory', key: 'link/empty', ino: '1', mode: 0 },
    { type: 'make-directory', key: 'link/empty' },
    { type: 'make-directory', key: 'link/new' },
    { type: 'make-directory', key: 'p.txt' },
  ].map((change) => ({ change, stamps: [null] })),
])('a forged journal touches nothing: $change', async ({ change, stamps }) => {
  const files = [`.holdfast-${token}-0-new.tmp`, `.holdfast-${token}-0-old.tmp`];
  for (const [round, owned] of [[], files.slice(0, 1), files.slice(1), files].entries()) {
    for (const [turn, [asked, committed, extension]] of (
      [
        [mark, true, 'journal'],
        [mark, false, 'journal'],
        [null, false, 'journal'],
        [mark, false, 'done'],
      ] as const
    ).entries()) {
      // All combinations in `npm run long`, half of them in `npm test`.
      if ((round + turn) % 2 === 1 && inject('long') === 0) continue;
      await using folder = await openWorkspace();
      for (const name of owned) {
        for (const place of ['root', 'root/src', 'outside']) writeFileSync(join(folder.path, place, name), 'planted');
      }
      const isLeftover = ([key]: readonly [string, string]) => /^root\/(?:src\/)?\.holdfast-/u.test(key);
      const before = Object.entries(snapshotTree(folder.path)).filter((entry) => !isLeftover(entry));
      const text = toText({ mark: asked, changes: [named(change)] }, stamps);
      await writeFile(join(folder.root, `.holdfast-${token}.${extension}`), text);
      const [open] = await settle(folder.root, committed);
      const after = Object.entries(snapshotTree(folder.path)).filter((entry) => !isLeftover(entry));
      const what = { owned, asked, committed, extension };
      // Valid in form, like one of this program.
      const marks = asked === mark && extension === 'journal' ? [mark] : [];
      expect({ ...what, open, after }).toEqual({ ...what, open: marks, after: before });
    }
  }
});

test.each(['holdfast.lock', '.holdfast/log.jsonl', 'src/holdfast.config.ts'])(
  'path.invalid: protected: a journal cannot name `%s`',
  async (key) => {
    await using folder = await openWorkspace();
    await writeFile(
      join(folder.root, `.holdfast-${token}.journal`),
      toText({ changes: [{ type: 'make-directory', key }] }, [null]),
    );
    const tree = snapshotTree(folder.path);
    expect(await settle(folder.root)).toEqual([[mark], 'path.invalid', 'path.invalid', [mark]]);
    // No one asks for this mark.
    await writeFile(
      join(folder.root, `.holdfast-${token}.journal`),
      toText({ mark: null, changes: [{ type: 'make-directory', key }] }, [null]),
    );
    expect(await settle(folder.root)).toEqual([[], undefined, undefined, []]);
    expect(withoutJournals(snapshotTree(folder.path))).toEqual(withoutJournals(tree));
  },
);

test('every prefix of a journal counts as one whose process was killed while writing', async () => {
  await using folder = await openWorkspace();
  const tree = snapshotTree(folder.path);
  const path = join(folder.root, `.holdfast-${token}.journal`);
  const text = write({ key: 'src/ü.txt', folder: 'src' });
  const bytes = Buffer.from(text);
  const head = bytes.indexOf('\n') + 1;
  for (let length = 0; length < bytes.length; length += length > 30 && length < head - 5 ? 7 : 1) {
    await writeFile(path, bytes.subarray(0, length));
    if (length >= head) await writeFile(join(folder.root, `src/.holdfast-${token}-0-new.tmp`), 'half');
    expect({ length, marks: await hostFilesystem(folder.root).unsettled?.() }).toEqual({ length, marks: [] });
    expect({ length, tree: snapshotTree(folder.path) }).toEqual({ length, tree });
  }
});

test('a torn journal of a process that may still run stays for a minute', async () => {
  await using folder = await openWorkspace();
  const name = `.holdfast-${process.pid}-0a1b2c3d-1.journal`;
  await writeFile(join(folder.root, name), '{"holdfast":"jour');
  const files = hostFilesystem(folder.root);
  await files.unsettled?.();
  expect(await readdir(folder.root)).toContain(name);
  await utimes(join(folder.root, name), 0, 0);
  await files.unsettled?.();
  expect(await readdir(folder.root)).not.toContain(name);
});

test('files that are not named like a journal are ignored', async () => {
  await using folder = await openWorkspace();
  const names = [
    `.holdfast-${token}.journal.bak`,
    `.holdfast-x.journal`,
    `.holdfast-1-0a1b2c3d-1-0-new.tmp`,
    `holdfast-${token}.journal`,
  ];
  for (const name of names) await writeFile(join(folder.root, name), toText({ mark: null, changes: [] }, []));
  const tree = snapshotTree(folder.path);
  expect(await settle(folder.root)).toEqual([[], undefined, undefined, []]);
  expect(snapshotTree(folder.path)).toEqual(tree);
});
