import { readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@holdfast/core';
import { expect, test } from 'vitest';
import { callTool, createProject, toolFile } from '../test-project.ts';
import { testClock, testContext } from '../test-tools.ts';
import { startWatch, type TestWatch } from './test-watch.ts';
import { type WatchSeams, watchTools, watchToolsWith } from './tools.ts';

const answering = (name: string, answer: number): string => toolFile(name, { body: `return ${answer};` });
const broken = 'export const METADATA = {';
const helped = toolFile('helped', { code: "import { word } from './_word.mjs';", body: 'return word;' });

interface Step {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly edit: Readonly<Record<string, string | null>>;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly codes?: readonly string[];
  readonly reload?: object;
  readonly locked?: true;
}
const two = { 'plugins/a.mjs': answering('a', 1), 'plugins/b.mjs': answering('b', 2) };
const word = { 'plugins/helped.mjs': helped, 'plugins/_word.mjs': 'export const word = 1;' };

const steps: readonly Step[] = [
  {
    name: 'an edited file has its new tool',
    edit: { 'plugins/a.mjs': answering('a', 10) },
    answers: { a: 10, b: 2 },
    reload: { added: [], changed: ['a'], removed: [], kept: [] },
  },
  {
    name: 'a new file',
    edit: { 'plugins/c.mjs': answering('c', 3) },
    answers: { a: 1, b: 2, c: 3 },
    reload: { added: ['c'], changed: [], removed: [], kept: [] },
  },
  {
    name: 'a file that is gone',
    edit: { 'plugins/a.mjs': null },
    answers: { b: 2 },
    reload: { added: [], changed: [], removed: ['a'], kept: [] },
  },
  {
    name: 'a file that breaks keeps what it was',
    edit: { 'plugins/a.mjs': broken },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs tool.file.syntax', 'a.mjs tool.watch.kept (warning)'],
    reload: { added: [], changed: [], removed: [], kept: ['a'] },
  },
  {
    name: 'an empty file, as of an editor that has only begun to write',
    edit: { 'plugins/a.mjs': '' },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs tool.metadata.missing', 'a.mjs tool.watch.kept (warning)'],
  },
  {
    name: 'a file that moves takes its tool along',
    edit: { 'plugins/a.mjs': null, 'plugins/z.mjs': answering('a', 1) },
    answers: { a: 1, b: 2 },
    reload: { added: [], changed: ['a'], removed: [], kept: [] },
  },
  {
    name: 'a tool with a new name',
    edit: { 'plugins/a.mjs': answering('c', 1) },
    answers: { b: 2, c: 1 },
    reload: { added: ['c'], changed: [], removed: ['a'], kept: [] },
  },
  {
    name: 'two files that exchange their tools',
    edit: { 'plugins/a.mjs': answering('b', 20), 'plugins/b.mjs': answering('a', 10) },
    answers: { a: 10, b: 20 },
    reload: { added: [], changed: ['b', 'a'], removed: [], kept: [] },
  },
  {
    name: 'a twin costs the first one nothing, and is refused',
    edit: { 'plugins/c.mjs': answering('a', 3) },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs tool.name.duplicate', 'a.mjs tool.watch.kept (warning)', 'c.mjs tool.name.duplicate'],
  },
  {
    name: 'a good file takes the name of one that is broken now',
    edit: { 'plugins/a.mjs': broken, 'plugins/c.mjs': answering('a', 3) },
    answers: { a: 3, b: 2 },
    codes: ['a.mjs tool.file.syntax'],
    reload: { added: [], changed: ['a'], removed: [], kept: [] },
  },
  {
    name: 'so does one whose name is hard to tell from it',
    files: { 'plugins/a.mjs': answering('do_it', 1) },
    edit: { 'plugins/a.mjs': broken, 'plugins/c.mjs': answering('do-it', 3) },
    answers: { 'do-it': 3 },
    codes: ['a.mjs tool.file.syntax'],
  },
  {
    name: 'a file that is renamed to one that does not count',
    edit: { 'plugins/a.mjs': null, 'plugins/_a.mjs': answering('a', 1) },
    answers: { b: 2 },
  },
  {
    name: 'what a tool imports is a part of it',
    files: word,
    edit: { 'plugins/_word.mjs': 'export const word = 2;' },
    answers: { helped: 2 },
    reload: { added: [], changed: ['helped'], removed: [], kept: [] },
  },
  {
    name: 'an import that breaks keeps what it was',
    files: word,
    edit: { 'plugins/_word.mjs': 'export const word = ;' },
    answers: { helped: 1 },
    codes: ['_word.mjs tool.file.syntax', 'helped.mjs tool.watch.kept (warning)'],
    reload: { added: [], changed: [], removed: [], kept: ['helped'] },
  },
  {
    name: 'an import that is gone keeps what it was',
    files: word,
    edit: { 'plugins/_word.mjs': null },
    answers: { helped: 1 },
    codes: ['helped.mjs tool.import.missing', 'helped.mjs tool.watch.kept (warning)'],
  },
  {
    name: 'a new tool whose import is not there yet is offered, as by a load',
    edit: { 'plugins/helped.mjs': helped },
    answers: { a: 1, b: 2, helped: 'threw tool.file.import_failed' },
    codes: ['helped.mjs tool.watch.unkept (warning)'],
  },
  {
    name: 'a broken import does not hold a name that another file has taken',
    files: word,
    edit: {
      'plugins/_word.mjs': null,
      'plugins/a.mjs': answering('helped', 5),
      'plugins/helped.mjs': toolFile('other', { code: "import './_word.mjs';" }),
    },
    answers: { helped: 5, other: 'threw tool.file.import_failed' },
    codes: ['helped.mjs tool.watch.unkept (warning)'],
  },
  {
    name: 'a new tool whose import is not there does not take the name of one that is kept',
    edit: { 'plugins/a.mjs': broken, 'plugins/helped.mjs': toolFile('a', { code: "import './_word.mjs';" }) },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs tool.file.syntax', 'a.mjs tool.watch.kept (warning)', 'helped.mjs tool.import.missing'],
  },
  {
    name: 'what no copy can hold runs where it lies, as by a load',
    edit: { 'plugins/a.mjs': toolFile('a', { body: 'return typeof import.meta.url;' }) },
    answers: { a: 'string', b: 2 },
    codes: ['a.mjs tool.watch.unkept (warning)'],
  },
  {
    name: 'and is not kept when it breaks',
    files: { 'plugins/a.mjs': toolFile('a', { body: 'return typeof import.meta.url;' }) },
    edit: { 'plugins/a.mjs': broken },
    answers: {},
    codes: ['a.mjs tool.file.syntax'],
  },
  {
    name: 'locked: an edited file is refused and stays as it is locked',
    locked: true,
    edit: { 'plugins/a.mjs': answering('a', 10) },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs tool.lock.changed', 'a.mjs tool.watch.kept (warning)'],
    reload: { added: [], changed: [], removed: [], kept: ['a'] },
  },
  {
    name: 'locked: an edited import',
    locked: true,
    files: word,
    edit: { 'plugins/_word.mjs': 'export const word = 2;' },
    answers: { helped: 1 },
    codes: ['helped.mjs tool.lock.changed', 'helped.mjs tool.watch.kept (warning)'],
  },
  {
    name: 'locked: a new file is refused',
    locked: true,
    edit: { 'plugins/c.mjs': answering('c', 1) },
    answers: { a: 1, b: 2 },
    codes: ['c.mjs tool.lock.unpinned'],
  },
  {
    name: 'locked: a file that is gone',
    locked: true,
    edit: { 'plugins/a.mjs': null },
    answers: { b: 2 },
    codes: ['a.mjs tool.lock.gone (warning)'],
  },
  {
    name: 'locked: a lock that is gone changes no tool',
    locked: true,
    edit: { 'holdfast.lock': null, 'plugins/a.mjs': null },
    answers: { a: 1, b: 2 },
    codes: ['. tools.lock.missing'],
    reload: { added: [], changed: [], removed: [], kept: [] },
  },
  {
    name: 'locked: a lock that is damaged changes no tool',
    locked: true,
    edit: { 'holdfast.lock': '{' },
    answers: { a: 1, b: 2 },
    codes: ['. tools.lock.invalid'],
  },
  {
    name: 'locked: what the lock does not name any more goes, though its file is as it was',
    locked: true,
    edit: { 'holdfast.lock': '{ "version": 1, "tools": {} }' },
    answers: {},
    codes: ['a.mjs tool.lock.unpinned', 'b.mjs tool.lock.unpinned'],
    reload: { added: [], changed: [], removed: ['a', 'b'], kept: [] },
  },
];

test.each(steps)('$name', async ({ files = two, edit, answers, codes = [], reload, locked = false }) => {
  await using watch = await startWatch(files, { locked });
  await watch.edit(edit);
  expect(await watch.answers()).toEqual(answers);
  expect([...watch.codes()].sort()).toEqual([...codes].sort());
  if (reload !== undefined) expect(watch.reloads).toEqual([reload]);
});

test('a file that is repaired has its new tool, or the one that it had', async () => {
  await using watch = await startWatch(two);
  const [first] = watch.watched.tools;
  await watch.edit({ 'plugins/a.mjs': broken });
  expect(watch.watched.tools[0]).toBe(first);
  await watch.edit({ 'plugins/a.mjs': answering('a', 1) });
  expect({ tool: watch.watched.tools[0], codes: watch.codes() }).toEqual({ tool: first, codes: [] });
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('a lock that is written anew counts at once', async () => {
  await using watch = await startWatch(two, { locked: true });
  await watch.edit({ 'plugins/a.mjs': answering('a', 10) });
  await watch.project.accept();
  await watch.watched.reload();
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { a: 10, b: 2 }, codes: [] });
});

test('what was locked before is of no use once the lock has another version', async () => {
  await using watch = await startWatch(two, { locked: true });
  await watch.project.write('plugins/a.mjs', answering('a', 10));
  await watch.project.accept();
  await watch.edit({ 'plugins/a.mjs': broken });
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({
    answers: { b: 2 },
    codes: ['a.mjs tool.file.syntax'],
  });
});

test('what has not changed stays the same object, and nobody is told', async () => {
  await using watch = await startWatch(two);
  const { tools, files } = watch.watched;
  expect(Object.isFrozen(tools)).toBe(true);
  await watch.edit({ 'plugins/a.mjs': answering('a', 1) });
  expect(watch.watched.tools).toBe(tools);
  expect(watch.reloads).toEqual([]);
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(watch.watched.tools).not.toBe(tools);
  expect(watch.watched.tools[1]).toBe(tools[1]);
  expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(files).toHaveLength(2);
  expect(watch.reloads).toHaveLength(1);
});

test('a folder that is gone changes no tool, and its files count again when it is back', async () => {
  await using watch = await startWatch(two);
  await rename(watch.project.plugins, join(watch.project.root, 'away'));
  await watch.watched.reload();
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  expect(watch.codes()).toEqual(['. tools.folder.missing']);
  await watch.edit({ 'plugins/b.mjs': answering('b', 4) });
  expect(await watch.answers()).toEqual({ b: 4 });
  expect(watch.codes()).toEqual(['. tool.watch.retained (warning)']);
});

test('a file that changes while it is read keeps what it was, and is read again', async () => {
  let disturb = async (): Promise<void> => undefined;
  await using watch = await startWatch(two, { seams: { onScanned: () => disturb() } });
  disturb = async () => {
    disturb = async () => undefined;
    await watch.project.write('plugins/a.mjs', answering('a', 4));
  };
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  expect([...watch.codes()].sort()).toEqual(['a.mjs tool.file.changed', 'a.mjs tool.watch.kept (warning)']);
  await watch.watched.reload();
  expect(await watch.answers()).toEqual({ a: 4, b: 2 });
  expect(watch.codes()).toEqual(['. tool.watch.retained (warning)']);
});

test('links count as by a load, and one that leaves the folder keeps what was there', async () => {
  await using watch = await startWatch({ ...two, 'src/evil.mjs': answering('a', 666) });
  await watch.project.link('plugins/a.mjs', '../src/evil.mjs');
  await watch.watched.reload();
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  expect([...watch.codes()].sort()).toEqual(['a.mjs tool.file.symlink', 'a.mjs tool.watch.kept (warning)']);
});

const waiting = (answer: number): string =>
  toolFile('a', {
    code: "import { existsSync } from 'node:fs';",
    body: `while (!existsSync(input.text)) await new Promise((go) => setTimeout(go, 1));
      return [${answer}, (await import('./_late.mjs')).late];`,
  });

test.each(['in-process', 'worker', 'subprocess'] as const)(
  'a call in flight ends with the version that it began with, %s',
  async (isolation) => {
    await using watch = await startWatch(
      { 'plugins/a.mjs': waiting(1), 'plugins/_late.mjs': 'export const late = 1;' },
      { isolation },
    );
    const text = join(watch.project.root, 'go');
    const [first] = watch.watched.tools;
    const call = first?.execute?.({ text }, testContext());
    await watch.edit({ 'plugins/a.mjs': waiting(2), 'plugins/_late.mjs': 'export const late = 2;' });
    await watch.edit({ 'plugins/a.mjs': null, 'plugins/_late.mjs': null });
    await watch.edit({ 'plugins/a.mjs': waiting(3), 'plugins/_late.mjs': 'export const late = 3;', go: '' });
    expect(await call).toEqual([1, 1]);
    expect(await watch.watched.tools[0]?.execute?.({ text }, testContext())).toEqual([3, 3]);
    // Whoever still has the first one still has what it was.
    expect(await first?.execute?.({ text }, testContext())).toEqual([1, 1]);
  },
);

test('a tool of the past that this process has imported finds what it imports only now', async () => {
  const body = "return input.text === 'late' ? (await import('./_late.mjs')).late : 0;";
  const late = 'export const late = 1;';
  await using watch = await startWatch({ 'plugins/a.mjs': toolFile('a', { body }), 'plugins/_late.mjs': late });
  const [first] = watch.watched.tools;
  expect(await callTool(first)).toBe(0);
  await watch.edit({ 'plugins/a.mjs': null, 'plugins/_late.mjs': null });
  expect(await callTool(first, testContext(), { text: 'late' })).toBe(1);
});

/** What `.holdfast` holds of watches, with the copies in it. */
async function listCopies({ project }: TestWatch): Promise<readonly string[]> {
  const home = join(project.root, '.holdfast');
  const names = (await readdir(home).catch(() => [])).filter((name) => name.startsWith('watch-'));
  return (await Promise.all(names.map((name) => readdir(join(home, name))))).flat();
}

test('copies are there from the first call until the next version, and none is left at the end', async () => {
  await using watch = await startWatch(two);
  expect(await listCopies(watch)).toEqual([]);
  await watch.answers();
  const first = await listCopies(watch);
  expect(first).toHaveLength(2);
  // Read again, and no more needed than before.
  await watch.watched.reload();
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  await watch.answers();
  const second = await listCopies(watch);
  expect(second).toHaveLength(2);
  expect(second.filter((digest) => first.includes(digest))).toHaveLength(1);
  await watch.watched.close();
  expect(await readdir(join(watch.project.root, '.holdfast'))).toEqual(['.gitignore']);
});

test('a copy that was tampered with is made anew', async () => {
  await using watch = await startWatch(two, { isolation: 'subprocess' });
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  const home = join(watch.project.root, '.holdfast');
  const [own = ''] = (await readdir(home)).filter((name) => name.startsWith('watch-'));
  const digest = watch.watched.tools[0]?.origin?.digest ?? '';
  await watch.project.write(`.holdfast/${own}/${digest}/files/plugins/a.mjs`, answering('a', 666));
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('what watches of processes that are gone have left is taken away, and nothing else', async () => {
  await using project = await createProject(two);
  const first = await watchTools(project.plugins, { isolation: 'in-process' });
  await callTool(first.tools[0]);
  const home = join(project.root, '.holdfast');
  const [own = ''] = (await readdir(home)).filter((name) => name.startsWith('watch-'));
  // No process has such a number.
  const left = own.replace(/^(watch-\w{8})-\d+/, '$1-4294967');
  const others = [own.replace(/^watch-\w{8}/, 'watch-00000000'), 'watch-mine', 'tools'];
  for (const name of [left, ...others]) await project.write(`.holdfast/${name}/x`, '');
  const second = await watchTools(project.plugins, { isolation: 'in-process' });
  expect((await readdir(home)).sort()).toEqual(['.gitignore', own, ...others].sort());
  expect(await callTool(first.tools[0])).toBe(1);
  await first.close();
  await second.close();
});

test('where no copy can be written tools run where they lie', async () => {
  await using project = await createProject(two);
  await project.write('elsewhere/x', '');
  await symlink('elsewhere', join(project.root, '.holdfast'));
  const watched = await watchTools(project.plugins, { isolation: 'in-process' });
  expect(watched.diagnostics).toMatchObject([
    { code: 'tool.watch.unkept', severity: 'warning', message: expect.stringContaining('symbolic link') },
    { code: 'tool.watch.unkept' },
  ]);
  expect(await callTool(watched.tools[0])).toBe(1);
  expect(await readdir(join(project.root, 'elsewhere'))).toEqual(['x']);
  await watched.close();
});

test('a thousand events are one reload, and one that comes during a reload is another', async () => {
  const time = testClock();
  let timers = 0;
  const clock: Clock = {
    ...time,
    after(delayMs, run) {
      timers += 1;
      return time.after(delayMs, run);
    },
  };
  let scans = 0;
  let during = (): void => undefined;
  const onScanned = (): void => {
    scans += 1;
    during();
  };
  await using watch = await startWatch(two, { clock, seams: { onScanned } });
  await watch.project.write('plugins/a.mjs', answering('a', 3));
  for (let event = 0; event < 1000; event += 1) watch.changed();
  during = () => {
    during = () => undefined;
    watch.changed();
  };
  expect({ scans, timers }).toEqual({ scans: 1, timers: 1 });
  time.advance(1000);
  // Whoever asks now has the reload that has begun.
  await watch.watched.reload();
  expect({ scans, timers, answers: await watch.answers() }).toEqual({ scans: 2, timers: 2, answers: { a: 3, b: 2 } });
  await watch.project.write('plugins/a.mjs', answering('a', 4));
  time.advance(1000);
  await watch.watched.reload();
  expect({ scans, answers: await watch.answers() }).toEqual({ scans: 3, answers: { a: 4, b: 2 } });
});

test('reloads at once are as many as it takes', async () => {
  let scans = 0;
  const onScanned = (): void => {
    scans += 1;
  };
  await using watch = await startWatch(two, { seams: { onScanned } });
  await Promise.all(Array.from({ length: 100 }, () => watch.watched.reload()));
  expect(scans).toBe(2);
  const first = watch.watched.reload();
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([first, watch.watched.reload(), watch.watched.reload()]);
  expect(scans).toBe(4);
});

test.each([
  [Object.assign(new Error('System limit'), { code: 'ENOSPC' }), 'ENOSPC', 'fs.inotify'],
  [Object.assign(new Error('Too many'), { code: 'EMFILE' }), 'EMFILE', 'fs.inotify'],
  [new Error('no more'), 'no more', 'by hand'],
  [null, 'null', 'by hand'],
])('what cannot be watched, for %s, is told of until it can, and tools stay', async (thrown, message, hint) => {
  const failures: unknown[] = [thrown];
  await using watch = await startWatch(two, { failures });
  const told = {
    severity: 'warning',
    code: 'tool.watch.failed',
    file: '.',
    message: expect.stringContaining(message),
    hint: expect.stringContaining(hint),
  };
  expect(watch.watched.diagnostics).toMatchObject([told]);
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(watch.watched.diagnostics).toMatchObject([told]);
  failures.pop();
  await watch.watched.reload();
  expect(watch.watched.diagnostics).toEqual([]);
  expect(watch.reloads).toEqual([
    { added: [], changed: ['a'], removed: [], kept: [] },
    { added: [], changed: [], removed: [], kept: [] },
  ]);
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('an observer that throws is of no consequence', async () => {
  await using watch = await startWatch(two, {
    onReload: () => {
      throw new Error('no');
    },
  });
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('what this process has imported and is of the past is told of', async () => {
  await using watch = await startWatch(two);
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  // It was never called.
  expect(watch.codes()).toEqual([]);
  await watch.answers();
  await watch.edit({ 'plugins/a.mjs': answering('a', 4) });
  expect(watch.codes()).toEqual(['. tool.watch.retained (warning)']);
  expect(watch.watched.diagnostics[0]?.message).toContain('1 former version ');
  await watch.answers();
  await watch.edit({ 'plugins/a.mjs': null, 'plugins/b.mjs': null });
  expect(watch.watched.diagnostics[0]?.message).toContain('3 former versions ');
  // The same module again.
  await watch.edit({ 'plugins/b.mjs': answering('b', 2) });
  expect(watch.watched.diagnostics[0]?.message).toContain('2 former versions ');
});

test.each(['worker', 'subprocess'] as const)('a %s leaves nothing of the past', async (isolation) => {
  await using watch = await startWatch(two, { isolation });
  await watch.answers();
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { a: 3, b: 2 }, codes: [] });
});

test('what is followed: the files of tools wherever they lie, those that are missing, and the lock', async () => {
  const code = "import { word } from '../src/word.mjs';";
  const files = { 'plugins/a.mjs': toolFile('a', { code }), 'src/word.mjs': 'export const word = 1;' };
  await using watch = await startWatch(files, { locked: true });
  const all = ['holdfast.lock', 'plugins/a.mjs', 'src/word.mjs'];
  expect(watch.followed).toEqual(all);
  await watch.watched.reload();
  // Nothing was read: all was as it is registered.
  expect(watch.followed).toEqual(all);
  await watch.edit({ 'plugins/a.mjs': toolFile('a', { code: "import { word } from '../src/none.mjs';" }) });
  expect(watch.followed).toEqual([...all, 'src/none.mjs'].sort());
});

test('after the end calls are refused, and nothing is read any more', async () => {
  const clock = testClock();
  const watch = await startWatch(two, { clock });
  const { watched, project } = watch;
  expect(watch.open).toBe(1);
  await project.write('plugins/a.mjs', answering('a', 3));
  watch.changed();
  await Promise.all([watched.close(), watched.close()]);
  expect(watch.open).toBe(0);
  watch.changed();
  clock.advance(1000);
  await watched.reload();
  expect(watch.reloads).toEqual([]);
  expect(await callTool(watched.tools[0])).toBe('threw tool.process.closed');
  await watch[Symbol.asyncDispose]();
});

test('an end during a reload waits for it', async () => {
  const watch = await startWatch(two);
  await watch.project.write('plugins/a.mjs', answering('a', 3));
  const reload = watch.watched.reload();
  await Promise.resolve();
  await Promise.resolve();
  await watch.watched.close();
  expect(watch.reloads).toHaveLength(1);
  await reload;
  await watch[Symbol.asyncDispose]();
});

test('an end ends calls under way in processes', async () => {
  const watch = await startWatch({ 'plugins/a.mjs': waiting(1), 'plugins/_late.mjs': '' }, { isolation: 'subprocess' });
  const call = callTool(watch.watched.tools[0], testContext(), { text: join(watch.project.root, 'never') });
  await watch.watched.close();
  expect(await call).toBe('threw tool.process.closed');
  await watch[Symbol.asyncDispose]();
});

test.each([
  ['none', {}, 'tools.folder.missing'],
  ['file', {}, 'tools.folder.not_directory'],
  ['plugins', { lock: 'holdfast.lock' }, 'tools.lock.missing'],
  ['plugins', { lock: 'deep/holdfast.lock' }, 'tools.lock.outside'],
])('a watch of `%s` with %j does not begin: %s', async (folder, { lock }: { readonly lock?: string }, code) => {
  await using project = await createProject({ file: '', 'deep/x': '' });
  let open = 0;
  const close = (): void => {
    open -= 1;
  };
  const seams: WatchSeams = {
    watchFiles: async () => {
      open += 1;
      return { follow: async () => [], close };
    },
  };
  const options = lock === undefined ? {} : { lock: join(project.root, lock) };
  await expect(watchToolsWith(join(project.root, folder), options, seams)).rejects.toMatchObject({ code });
  expect(open).toBe(0);
  expect((await readdir(project.root)).sort()).toEqual(['deep', 'file', 'plugins']);
});
