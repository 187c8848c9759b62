import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { hostProcesses } from '@holdfast/session/lock';
import { expect, inject, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';
import { hostFilesystem } from '../node.ts';
import type { HostOperations } from './folder.ts';
import { openJournal } from './journal.ts';
import { findLockPath } from './lock.ts';
import {
  type Changes,
  changesDisk,
  endedProcess,
  interrupt,
  mark,
  openFolderOf,
  recoverAll,
  runUndisturbed,
  type Tree,
} from './test-crashes.ts';
import { createFaults } from './test-faults.ts';
import { makeTestFolder, restoreTree, snapshotTree } from './test-folder.ts';

function file(text: string, mode = '644'): string {
  return `file ${mode} ${Buffer.from(text).toString('base64')}`;
}

const before: Tree = { 'a.txt': file('a', '640'), 'b.txt': file('b'), empty: 'folder 711', src: 'folder 755' };

const changes: Changes = async (view) => {
  await view.write('a.txt', 'changed');
  await view.remove('b.txt');
  await view.remove('empty');
  await view.write('src/new/c.txt', 'c');
};

const after: Tree = {
  'a.txt': file('changed', '640'),
  src: 'folder 755',
  'src/new': 'folder 755',
  'src/new/c.txt': file('c'),
};

interface Crashed extends AsyncDisposable {
  readonly root: string;
  /** Next to the root. */
  readonly outside: string;
}

type Moment = 'prepared' | 'applied';

/** The step of each moment; the same for every folder. */
const moments = (async (): Promise<Readonly<Record<Moment, number>>> => {
  await using folder = await makeTestFolder();
  const { steps } = await runUndisturbed(join(folder.path, 'root'), before, changes);
  // The first step of `commit` finds the first folder; the last rename is that of the journal.
  return { prepared: steps.lastIndexOf('handle.writeFile') + 2, applied: steps.lastIndexOf('rename') };
})();

/** A folder whose process was killed after everything was prepared, or after everything was applied but not cleaned. */
async function openCrashed(moment: Moment, options: { unmarked?: boolean } = {}): Promise<Crashed> {
  const folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  restoreTree(root, before);
  const { prepared } = await interrupt(root, changes, { kind: 'crash', at: (await moments)[moment], ...options });
  expect(prepared).toBe(true);
  return {
    root,
    outside: folder.path,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function findJournal(root: string): Promise<string> {
  const name = (await readdir(root)).find((other) => other.endsWith('.journal'));
  return join(root, name ?? 'none');
}

async function rewriteOwner(root: string, owner: object): Promise<void> {
  const path = await findJournal(root);
  const [head = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
  const value = Object.assign(JSON.parse(head), { owner: { ...hostProcesses.identify(), ...owner } });
  await writeFile(path, [JSON.stringify(value), ...rest].join('\n'));
}

async function catchError(run: Promise<unknown>): Promise<unknown> {
  try {
    await run;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The tree without backups, and their content by the file that they belong to. */
async function readKept(root: string): Promise<{ readonly tree: Tree; readonly kept: readonly unknown[] }> {
  const all = Object.entries(snapshotTree(root));
  const isKept = ([key]: readonly [string, string]) => /\.holdfast-[\w-]+\.kept$/u.test(key);
  return {
    tree: Object.fromEntries(all.filter((entry) => !isKept(entry))),
    kept: all.filter(isKept).map(([, text]) => text),
  };
}

test.each([
  { committed: true, tree: after },
  { committed: false, tree: before },
])('prepared changes wait for the decision: committed $committed', async ({ committed, tree }) => {
  for (const moment of ['prepared', 'applied'] as const) {
    await using folder = await openCrashed(moment);
    const files = hostFilesystem(folder.root);
    expect(await files.unsettled?.()).toEqual([mark]);
    expect(await files.unsettled?.()).toEqual([mark]);
    await files.recover?.('another', !committed);
    await files.recover?.(mark, committed);
    expect(snapshotTree(folder.root)).toEqual(tree);
    expect(await files.unsettled?.()).toEqual([]);
    await files.recover?.(mark, committed);
    await files.recover?.(mark, !committed);
    expect(snapshotTree(folder.root)).toEqual(tree);
  }
});

/** Every step in `npm run long`; a few in `npm test`, different ones per round. */
const isLong = inject('long') > 0;

test('a second crash at any step of a recovery does not change the result', async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  const { steps } = await runUndisturbed(root, before, changes);
  let crashes = 0;
  for (const [at, step] of steps.entries()) {
    if (!changesDisk(step)) continue;
    for (const committed of isLong ? [true, false] : [at % 2 === 0]) {
      const recover = async (second: number | undefined) => {
        restoreTree(root, before);
        await interrupt(root, changes, { kind: 'crash', at });
        const journal = await readFile(await findJournal(root), 'utf8').catch(() => '');
        const faults = createFaults({ kind: 'crash' });
        faults.start(second);
        const error = await catchError(recoverAll(root, committed, faults.operations));
        return { isOpen: journal.split('\n').length === 3, error, names: faults.steps };
      };
      const { names, isOpen } = await recover(undefined);
      const expected = snapshotTree(root);
      if (isOpen) expect(expected).toEqual(committed ? after : before);
      for (const [second, name] of names.entries()) {
        if (!changesDisk(name) || (!isLong && (at + second) % 4 !== 0)) continue;
        const { error } = await recover(second);
        // Only a commit that no one asks for may fail silently.
        if (isOpen) expect(error).toBeDefined();
        await recoverAll(root, committed);
        expect({ at, second, tree: snapshotTree(root) }).toEqual({ at, second, tree: expected });
        expect(await recoverAll(root, committed)).toEqual([]);
        crashes += 1;
      }
    }
  }
  expect(crashes).toBeGreaterThan(isLong ? 100 : 15);
});

test('a crash during the undo of a failed commit', async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  const { steps } = await runUndisturbed(root, before, changes);
  const decided = new Set<string>();
  for (const [at, step] of steps.entries()) {
    if (!changesDisk(step)) continue;
    // Prepared, and not yet settled.
    if (at <= steps.lastIndexOf('handle.writeFile') + 1 || at >= steps.lastIndexOf('rename')) continue;
    restoreTree(root, before);
    const { steps: undoing } = await interrupt(root, changes, { kind: 'error', at });
    for (const [second, name] of undoing.entries()) {
      if (second <= at || !changesDisk(name) || (!isLong && (at + second) % 3 !== 0)) continue;
      for (const committed of [true, false]) {
        restoreTree(root, before);
        await interrupt(root, changes, { kind: 'error', at, thenWorking: second - at - 1 });
        const marks = await recoverAll(root, committed);
        const tree = snapshotTree(root);
        const wanted = committed ? after : before;
        if (marks.length > 0) expect({ at, second, tree }).toEqual({ at, second, tree: wanted });
        // Only leftovers: the commit failed, or the failure had no effect.
        else expect([before, after]).toContainEqual(tree);
        if (marks.length > 0) decided.add(`${at} ${second} ${committed}`);
      }
    }
  }
  expect(decided.size).toBeGreaterThan(isLong ? 50 : 15);
});

test.each([true, false])('concurrent recoveries of the same commit are applied once (%s)', async (committed) => {
  await using folder = await openCrashed('applied');
  const files = [hostFilesystem(folder.root), hostFilesystem(folder.root)];
  const recoverTwice = async ({ recover, unsettled }: (typeof files)[number]) => {
    await Promise.all([recover, recover].map(async (run) => run?.(mark, committed)));
    await unsettled?.();
  };
  await Promise.all(files.map(recoverTwice));
  expect(snapshotTree(folder.root)).toEqual(committed ? after : before);
});

test.each([true, false])(
  'a disk error during a recovery is reported, and the next recovery continues (%s)',
  async (committed) => {
    let failures = 0;
    for (let at = 0, more = true; more; at += isLong ? 1 : 3) {
      await using folder = await openCrashed('applied');
      const faults = createFaults();
      faults.start(at);
      const error = await catchError(recoverAll(folder.root, committed, faults.operations));
      more = faults.failed !== undefined;
      if (error !== undefined) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^file\.(?:unreadable|write_failed)$/u) });
        expect(String(error)).not.toContain(folder.root);
        failures += 1;
      }
      await recoverAll(folder.root, committed);
      expect(snapshotTree(folder.root)).toEqual(committed ? after : before);
    }
    expect(failures).toBeGreaterThan(isLong ? 20 : 6);
  },
);

test('a mark stands for everything that was prepared under it', async () => {
  await using folder = await makeTestFolder();
  restoreTree(join(folder.path, 'root'), before);
  const root = join(folder.path, 'root');
  const calls = ['a.txt', 'src/c.txt'].map((path) => ({
    path,
    call: openFolderOf(root, undefined, endedProcess).begin('c1'),
  }));
  for (const { path, call } of calls) {
    await call.view.write(path, 'new');
    await call.prepare(mark);
  }
  expect(await recoverAll(root, true)).toEqual([mark]);
  expect(snapshotTree(root)).toEqual({ ...before, 'a.txt': file('new', '640'), 'src/c.txt': file('new') });
  // Closes its handles, as the end of a process does.
  for (const { call } of calls) expect(await catchError(Promise.resolve(call.discard()))).toBeDefined();
});

test('file.busy: changes prepared by a running process are neither listed nor settled by others', async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  restoreTree(root, before);
  const call = hostFilesystem(root).begin('c1');
  await changes(call.view);
  await call.prepare(mark);
  const other = hostFilesystem(root);
  expect(await other.unsettled?.()).toEqual([]);
  for (const committed of [true, false]) {
    await expect(other.recover?.(mark, committed)).rejects.toMatchObject({
      code: 'file.busy',
      data: { mark, process: process.pid },
    });
  }
  await call.commit();
  expect(snapshotTree(root)).toEqual(after);
});

test.each([
  { what: 'has ended', owner: () => ({ pid: spawnSync(process.execPath, ['--version']).pid }), marks: [mark] },
  { what: 'has a reused number', owner: () => ({ startedAt: 'before' }), marks: [mark], linux: true },
  { what: 'runs', owner: () => ({ pid: process.ppid, startedAt: '' }), marks: [] },
  // The caller that knows the mark knows that its process has ended.
  { what: 'is of another container', owner: () => ({ pidSpace: 'pid:[1]' }), marks: [mark] },
  { what: 'is of another machine', owner: () => ({ host: 'another' }), marks: [mark] },
])('for a process that $what, $marks is open', async ({ owner, marks, linux }) => {
  if (linux === true && process.platform !== 'linux') return;
  await using folder = await openCrashed('prepared');
  await rewriteOwner(folder.root, owner());
  expect(await hostFilesystem(folder.root).unsettled?.()).toEqual(marks);
});

test('without a mark, a partly applied commit is undone by the next process', async () => {
  await using folder = await openCrashed('applied', { unmarked: true });
  expect(await hostFilesystem(folder.root).unsettled?.()).toEqual([]);
  expect(snapshotTree(folder.root)).toEqual(before);
});

test('without a mark, a commit of another container is undone after a minute, not before', async () => {
  await using folder = await openCrashed('applied', { unmarked: true });
  await rewriteOwner(folder.root, { pidSpace: 'pid:[1]' });
  const crashed = snapshotTree(folder.root);
  const files = hostFilesystem(folder.root);
  expect(await files.unsettled?.()).toEqual([]);
  expect(snapshotTree(folder.root)).toEqual(crashed);
  utimesSync(await findJournal(folder.root), 0, 0);
  expect(await files.unsettled?.()).toEqual([]);
  expect(snapshotTree(folder.root)).toEqual(before);
});

interface ConflictRow {
  readonly what: string;
  readonly moment: Moment;
  /** Changes files after the crash. */
  meddle(root: string): void;
  readonly paths: readonly string[];
  readonly kept: readonly string[];
  /** The differences from the expected tree. */
  readonly differs: Readonly<Record<string, string | undefined>>;
}

/** The result of a recovery; a second one must not change it. */
async function recoverAfter({ moment, meddle }: ConflictRow, committed: boolean) {
  await using folder = await openCrashed(moment);
  meddle(folder.root);
  const files = hostFilesystem(folder.root);
  const error = await catchError(files.recover?.(mark, committed) ?? Promise.resolve());
  const conflicts = error === undefined ? [] : toConflicts(error);
  const seen = await readKept(folder.root);
  // Kept content is at the path in the error and in its message.
  const missing = conflicts.filter(
    ({ path, kept }) =>
      !String(error).includes(`\`${path}\``) ||
      (kept !== null && !(String(error).includes(kept) && existsSync(join(folder.root, kept)))),
  );
  expect(missing).toEqual([]);
  expect(conflicts.filter(({ kept }) => kept !== null)).toHaveLength(seen.kept.length);
  expect(String(error)).not.toContain(folder.root);
  expect(await files.unsettled?.()).toEqual([]);
  await files.recover?.(mark, committed);
  expect(await readKept(folder.root)).toEqual(seen);
  return {
    code: isHoldfastError(error) ? describeCode(error) : error,
    paths: conflicts.map(({ path }) => path).sort(),
    ...seen,
  };
}

function expected({ paths, kept, differs }: ConflictRow, tree: Tree): object {
  const entries = Object.entries({ ...tree, ...differs }).filter(([, text]) => text !== undefined);
  return {
    code: paths.length === 0 ? undefined : 'file.conflict: recovery',
    paths,
    tree: Object.fromEntries(entries),
    kept,
  };
}

function toConflicts(error: unknown): readonly { readonly path: string; readonly kept: string | null }[] {
  if (!isHoldfastError(error)) throw error;
  return JSON.parse(JSON.stringify(error.data)).conflicts;
}

function edit(key: string): (root: string) => void {
  return (root) => writeFileSync(join(root, key), 'by another program');
}

const theirs = 'by another program';

test.each<ConflictRow>([
  {
    what: 'a file that was to be replaced was changed',
    moment: 'prepared',
    meddle: edit('a.txt'),
    paths: ['a.txt'],
    kept: [file('changed', '640')],
    differs: { 'a.txt': file(theirs, '640') },
  },
  {
    what: 'a file that was to be replaced was removed',
    moment: 'prepared',
    meddle: (root) => rmSync(join(root, 'a.txt')),
    paths: ['a.txt'],
    kept: [file('changed', '640')],
    differs: { 'a.txt': undefined },
  },
  {
    what: 'a file that was to be removed was changed',
    moment: 'prepared',
    meddle: edit('b.txt'),
    paths: ['b.txt'],
    kept: [],
    differs: { 'b.txt': file(theirs) },
  },
  {
    what: 'a folder that was to be removed was used',
    moment: 'prepared',
    meddle: edit('empty/x'),
    paths: ['empty'],
    kept: [],
    differs: { empty: 'folder 711', 'empty/x': file(theirs) },
  },
  {
    what: 'a file is where a folder was to be',
    moment: 'prepared',
    meddle: edit('src/new'),
    paths: ['src/new', 'src/new/c.txt'],
    kept: [file('c')],
    differs: { 'src/new': file(theirs), 'src/new/c.txt': undefined },
  },
  {
    what: 'a file was made where one was to be',
    moment: 'prepared',
    meddle: (root) => {
      mkdirSync(join(root, 'src/new'));
      edit('src/new/c.txt')(root);
    },
    paths: ['src/new/c.txt'],
    kept: [file('c')],
    differs: { 'src/new/c.txt': file(theirs) },
  },
  {
    what: 'what was applied was changed since',
    moment: 'applied',
    meddle: (root) => {
      for (const key of ['a.txt', 'b.txt', 'src/new/c.txt']) edit(key)(root);
    },
    paths: [],
    kept: [],
    differs: { 'a.txt': file(theirs, '640'), 'b.txt': file(theirs), 'src/new/c.txt': file(theirs) },
  },
])('file.conflict: recovery going forward: $what', async (row) => {
  expect(await recoverAfter(row, true)).toEqual(expected(row, after));
});

test.each<ConflictRow>([
  {
    what: 'a file that was replaced was changed since',
    moment: 'applied',
    meddle: edit('a.txt'),
    paths: ['a.txt'],
    kept: [file('a', '640')],
    differs: { 'a.txt': file(theirs, '640') },
  },
  {
    what: 'a file that was replaced was replaced again, by the same bytes',
    moment: 'applied',
    meddle: (root) => {
      writeFileSync(join(root, 'x'), 'changed');
      utimesSync(join(root, 'x'), 1, 1);
      renameSync(join(root, 'x'), join(root, 'a.txt'));
    },
    paths: ['a.txt'],
    kept: [file('a', '640')],
    differs: { 'a.txt': file('changed') },
  },
  {
    what: 'a file that was removed was made anew',
    moment: 'applied',
    meddle: edit('b.txt'),
    paths: ['b.txt'],
    kept: [file('b')],
    differs: { 'b.txt': file(theirs) },
  },
  {
    what: 'a file that was made was changed since',
    moment: 'applied',
    meddle: edit('src/new/c.txt'),
    paths: ['src/new/c.txt'],
    kept: [],
    differs: { 'src/new': 'folder 755', 'src/new/c.txt': file(theirs) },
  },
  {
    what: 'a file is where a folder was removed',
    moment: 'applied',
    meddle: edit('empty'),
    paths: ['empty'],
    kept: [],
    differs: { empty: file(theirs) },
  },
  {
    what: 'a folder that was made is used since',
    moment: 'applied',
    meddle: edit('src/new/x'),
    paths: [],
    kept: [],
    differs: { 'src/new': 'folder 755', 'src/new/x': file(theirs) },
  },
  {
    what: 'nothing was applied, and files were changed since',
    moment: 'prepared',
    meddle: (root) => {
      for (const key of ['a.txt', 'b.txt', 'empty/x']) edit(key)(root);
    },
    paths: [],
    kept: [],
    differs: { 'a.txt': file(theirs, '640'), 'b.txt': file(theirs), 'empty/x': file(theirs) },
  },
])('file.conflict: recovery going back: $what', async (row) => {
  expect(await recoverAfter(row, false)).toEqual(expected(row, before));
});

test.each([true, false])(
  'a folder that was moved away, with a link in its place, is not followed (%s)',
  async (committed) => {
    for (const moment of ['prepared', 'applied'] as const) {
      await using folder = await openCrashed(moment);
      const outside = join(folder.outside, 'outside');
      renameSync(join(folder.root, 'src'), outside);
      symlinkSync('../outside', join(folder.root, 'src'));
      const there = snapshotTree(outside);
      await catchError(recoverAll(folder.root, committed));
      expect(snapshotTree(outside)).toEqual(there);
      expect(await recoverAll(folder.root, committed)).toEqual([]);
    }
  },
);

test('settling holds the lock of the folder during changes', async () => {
  await using folder = await openCrashed('prepared');
  const lock = findLockPath(folder.root);
  const without: string[] = [];
  const operations = new Proxy<HostOperations>(
    { ...promises },
    {
      get(target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return (...parameters: unknown[]) => {
          if (changesDisk(String(property)) && property !== 'open' && !existsSync(lock)) without.push(String(property));
          return Reflect.apply(method, target, parameters);
        };
      },
    },
  );
  expect(await recoverAll(folder.root, true, operations)).toEqual([mark]);
  expect(without).toEqual([]);
  expect(existsSync(lock)).toBe(false);
  expect(snapshotTree(folder.root)).toEqual(after);
});

test('backups in the folder are invisible to tools', async () => {
  await using folder = await openCrashed('applied');
  const names = (await readdir(folder.root)).filter((name) => name.startsWith('.holdfast-'));
  expect(names.length).toBeGreaterThan(2);
  const { readOnly, begin } = hostFilesystem(folder.root);
  expect((await readOnly.list('')).map(({ name }) => name)).toEqual(['a.txt', 'src']);
  const walked: string[] = [];
  for await (const { path } of readOnly.walk()) walked.push(path);
  expect(walked).toEqual(['a.txt', 'src/new/c.txt']);
  const { view } = begin('c1');
  for (const name of [...names, '.holdfast-1-00000000-1.journal', '.HOLDFAST-1-00000000-1.done']) {
    for (const use of [() => view.read(name), () => view.write(name, ''), () => view.remove(name)]) {
      await expect(use()).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
    }
  }
});

test('path.invalid: protected: a recovery does not change files that are now protected', async () => {
  await using folder = await openCrashed('prepared');
  const crashed = snapshotTree(folder.root);
  const files = hostFilesystem(folder.root, { protectedPaths: ['src'] });
  await expect(files.recover?.(mark, true)).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
  expect(snapshotTree(folder.root)).toEqual(crashed);
  expect(await recoverAll(folder.root, true)).toEqual([mark]);
});

test('file.write_failed: without a journal, nothing is started', async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  restoreTree(root, before);
  for (const failing of ['open', 'writeFile'] as const) {
    const faults = createFaults({ code: 'ENOSPC' });
    const call = openFolderOf(root, faults.operations).begin('c1');
    await changes(call.view);
    const { steps } = await runUndisturbed(join(folder.path, 'other'), before, changes);
    faults.start(failing === 'open' ? steps.indexOf('open') : steps.indexOf('handle.writeFile'));
    const error = await catchError(Promise.resolve(call.prepare(mark)));
    expect(error).toMatchObject({ code: 'file.write_failed', data: { systemCode: 'ENOSPC' } });
    expect(String(error)).not.toContain(root);
    expect(snapshotTree(root)).toEqual(before);
  }
});

test('file.write_failed: too many changes for a journal', async () => {
  await using folder = await makeTestFolder();
  const changed = { type: 'make-directory', key: 'x'.repeat(4000) } as const;
  await expect(
    openJournal(
      { ...promises },
      {
        root: folder.path,
        token: '1-00000000-1',
        mark,
        owner: hostProcesses.identify(),
        changes: Array.from({ length: 5000 }, () => changed),
      },
    ),
  ).rejects.toMatchObject({ code: 'file.write_failed' });
  expect(snapshotTree(folder.path)).toEqual({});
});

test('files in memory end with their process and leave nothing', () => {
  const files = memoryFilesystem();
  expect([files.unsettled, files.recover]).toEqual([undefined, undefined]);
});
