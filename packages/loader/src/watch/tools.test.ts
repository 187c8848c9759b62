import { readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
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
    codes: ['a.mjs tool.file.invalid: syntax', 'a.mjs tool.watch.failed: kept (warning)'],
    reload: { added: [], changed: [], removed: [], kept: ['a'] },
  },
  {
    name: 'an empty file, as of an editor that has only begun to write',
    edit: { 'plugins/a.mjs': '' },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs tool.metadata.missing', 'a.mjs tool.watch.failed: kept (warning)'],
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
    name: 'two files that swap their tools',
    edit: { 'plugins/a.mjs': answering('b', 20), 'plugins/b.mjs': answering('a', 10) },
    answers: { a: 10, b: 20 },
    reload: { added: [], changed: ['b', 'a'], removed: [], kept: [] },
  },
  {
    name: 'a twin is refused and does not affect the first file',
    edit: { 'plugins/c.mjs': answering('a', 3) },
    answers: { a: 1, b: 2 },
    codes: [
      'a.mjs tool.invalid: name.duplicate',
      'a.mjs tool.watch.failed: kept (warning)',
      'c.mjs tool.invalid: name.duplicate',
    ],
  },
  {
    name: 'a valid file takes the name of a broken one',
    edit: { 'plugins/a.mjs': broken, 'plugins/c.mjs': answering('a', 3) },
    answers: { a: 3, b: 2 },
    codes: ['a.mjs tool.file.invalid: syntax'],
    reload: { added: [], changed: ['a'], removed: [], kept: [] },
  },
  {
    name: 'a valid file takes a name that is hard to distinguish',
    files: { 'plugins/a.mjs': answering('do_it', 1) },
    edit: { 'plugins/a.mjs': broken, 'plugins/c.mjs': answering('do-it', 3) },
    answers: { 'do-it': 3 },
    codes: ['a.mjs tool.file.invalid: syntax'],
  },
  {
    name: 'a file renamed to an ignored name',
    edit: { 'plugins/a.mjs': null, 'plugins/_a.mjs': answering('a', 1) },
    answers: { b: 2 },
  },
  {
    name: 'a tool includes its imports',
    files: word,
    edit: { 'plugins/_word.mjs': 'export const word = 2;' },
    answers: { helped: 2 },
    reload: { added: [], changed: ['helped'], removed: [], kept: [] },
  },
  {
    name: 'a broken import keeps the last version',
    files: word,
    edit: { 'plugins/_word.mjs': 'export const word = ;' },
    answers: { helped: 1 },
    codes: ['_word.mjs tool.file.invalid: syntax', 'helped.mjs tool.watch.failed: kept (warning)'],
    reload: { added: [], changed: [], removed: [], kept: ['helped'] },
  },
  {
    name: 'a missing import keeps the last version',
    files: word,
    edit: { 'plugins/_word.mjs': null },
    answers: { helped: 1 },
    codes: ['helped.mjs tool.import.invalid: missing', 'helped.mjs tool.watch.failed: kept (warning)'],
  },
  {
    name: 'a new tool with a missing import is offered, as on load',
    edit: { 'plugins/helped.mjs': helped },
    answers: { a: 1, b: 2, helped: 'threw tool.file.import_failed' },
    codes: ['helped.mjs tool.watch.failed: unkept (warning)'],
  },
  {
    name: 'a broken import does not reserve a name that another file has taken',
    files: word,
    edit: {
      'plugins/_word.mjs': null,
      'plugins/a.mjs': answering('helped', 5),
      'plugins/helped.mjs': toolFile('other', { code: "import './_word.mjs';" }),
    },
    answers: { helped: 5, other: 'threw tool.file.import_failed' },
    codes: ['helped.mjs tool.watch.failed: unkept (warning)'],
  },
  {
    name: 'a new tool with a missing import does not take the name of a kept one',
    edit: { 'plugins/a.mjs': broken, 'plugins/helped.mjs': toolFile('a', { code: "import './_word.mjs';" }) },
    answers: { a: 1, b: 2 },
    codes: [
      'a.mjs tool.file.invalid: syntax',
      'a.mjs tool.watch.failed: kept (warning)',
      'helped.mjs tool.import.invalid: missing',
    ],
  },
  {
    name: 'a tool that cannot run from a copy runs in place, as on load',
    edit: { 'plugins/a.mjs': toolFile('a', { body: 'return typeof import.meta.url;' }) },
    answers: { a: 'string', b: 2 },
    codes: ['a.mjs tool.watch.failed: unkept (warning)'],
  },
  {
    name: 'and does not keep its last version',
    files: { 'plugins/a.mjs': toolFile('a', { body: 'return typeof import.meta.url;' }) },
    edit: { 'plugins/a.mjs': broken },
    answers: {},
    codes: ['a.mjs tool.file.invalid: syntax'],
  },
  {
    name: 'locked: an edited file is refused and keeps its locked version',
    locked: true,
    edit: { 'plugins/a.mjs': answering('a', 10) },
    answers: { a: 1, b: 2 },
    codes: ['a.mjs lock.changed', 'a.mjs tool.watch.failed: kept (warning)'],
    reload: { added: [], changed: [], removed: [], kept: ['a'] },
  },
  {
    name: 'locked: an edited import',
    locked: true,
    files: word,
    edit: { 'plugins/_word.mjs': 'export const word = 2;' },
    answers: { helped: 1 },
    codes: ['helped.mjs lock.changed', 'helped.mjs tool.watch.failed: kept (warning)'],
  },
  {
    name: 'locked: a new file is refused',
    locked: true,
    edit: { 'plugins/c.mjs': answering('c', 1) },
    answers: { a: 1, b: 2 },
    codes: ['c.mjs lock.changed: unpinned'],
  },
  {
    name: 'locked: a removed file',
    locked: true,
    edit: { 'plugins/a.mjs': null },
    answers: { b: 2 },
    codes: ['a.mjs lock.changed: gone (warning)'],
  },
  {
    name: 'locked: a removed lock changes no tool',
    locked: true,
    edit: { 'holdfast.lock': null, 'plugins/a.mjs': null },
    answers: { a: 1, b: 2 },
    codes: ['. lock.invalid: missing'],
    reload: { added: [], changed: [], removed: [], kept: [] },
  },
  {
    name: 'locked: a damaged lock changes no tool',
    locked: true,
    edit: { 'holdfast.lock': '{' },
    answers: { a: 1, b: 2 },
    codes: ['. lock.invalid'],
  },
  {
    name: 'locked: a tool removed from the lock is removed, although its file is unchanged',
    locked: true,
    edit: { 'holdfast.lock': '{ "version": 1, "tools": {} }' },
    answers: {},
    codes: ['a.mjs lock.changed: unpinned', 'b.mjs lock.changed: unpinned'],
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

test('a repaired file gives its new tool, or the previous one', async () => {
  await using watch = await startWatch(two);
  const [first] = watch.watched.tools;
  await watch.edit({ 'plugins/a.mjs': broken });
  expect(watch.watched.tools[0]).toBe(first);
  await watch.edit({ 'plugins/a.mjs': answering('a', 1) });
  expect({ tool: watch.watched.tools[0], codes: watch.codes() }).toEqual({ tool: first, codes: [] });
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('a new lock applies at once', async () => {
  await using watch = await startWatch(two, { locked: true });
  await watch.edit({ 'plugins/a.mjs': answering('a', 10) });
  await watch.project.accept();
  await watch.watched.reload();
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { a: 10, b: 2 }, codes: [] });
});

test('a previously locked version is not used once the lock has another', async () => {
  await using watch = await startWatch(two, { locked: true });
  await watch.project.write('plugins/a.mjs', answering('a', 10));
  await watch.project.accept();
  await watch.edit({ 'plugins/a.mjs': broken });
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({
    answers: { b: 2 },
    codes: ['a.mjs tool.file.invalid: syntax'],
  });
});

test('unchanged tools stay the same objects, without a notification', async () => {
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

test('a removed folder changes no tool, and its files apply again when it returns', async () => {
  await using watch = await startWatch(two);
  await rename(watch.project.plugins, join(watch.project.root, 'away'));
  await watch.watched.reload();
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  expect(watch.codes()).toEqual(['. tools.folder.unreadable: missing']);
  await watch.edit({ 'plugins/b.mjs': answering('b', 4) });
  expect(await watch.answers()).toEqual({ b: 4 });
  expect(watch.codes()).toEqual(['. tool.watch.failed: retained (warning)']);
});

test('a file that changes while it is read keeps its version, and is read again', async () => {
  let disturb = async (): Promise<void> => undefined;
  await using watch = await startWatch(two, { seams: { onScanned: () => disturb() } });
  disturb = async () => {
    disturb = async () => undefined;
    await watch.project.write('plugins/a.mjs', answering('a', 4));
  };
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  expect([...watch.codes()].sort()).toEqual(['a.mjs tool.file.changed', 'a.mjs tool.watch.failed: kept (warning)']);
  await watch.watched.reload();
  expect(await watch.answers()).toEqual({ a: 4, b: 2 });
  expect(watch.codes()).toEqual(['. tool.watch.failed: retained (warning)']);
});

test('links are treated as on load, and one that leaves the folder keeps the last version', async () => {
  await using watch = await startWatch({ ...two, 'src/evil.mjs': answering('a', 666) });
  await watch.project.link('plugins/a.mjs', '../src/evil.mjs');
  await watch.watched.reload();
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  expect([...watch.codes()].sort()).toEqual([
    'a.mjs tool.file.invalid: symlink',
    'a.mjs tool.watch.failed: kept (warning)',
  ]);
});

const waiting = (answer: number): string =>
  toolFile('a', {
    code: "import { existsSync } from 'node:fs';",
    body: `while (!existsSync(input.text)) await new Promise((go) => setTimeout(go, 1));
      return [${answer}, (await import('./_late.mjs')).late];`,
  });

test.each(['in-process', 'worker', 'subprocess'] as const)(
  'a running call finishes with its version, %s',
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
    // The first tool object still runs its own version.
    expect(await first?.execute?.({ text }, testContext())).toEqual([1, 1]);
  },
);

test('an outdated tool imported by this process can still import its files late', async () => {
  const body = "return input.text === 'late' ? (await import('./_late.mjs')).late : 0;";
  const late = 'export const late = 1;';
  await using watch = await startWatch({ 'plugins/a.mjs': toolFile('a', { body }), 'plugins/_late.mjs': late });
  const [first] = watch.watched.tools;
  expect(await callTool(first)).toBe(0);
  await watch.edit({ 'plugins/a.mjs': null, 'plugins/_late.mjs': null });
  expect(await callTool(first, testContext(), { text: 'late' })).toBe(1);
});

/** The folders of watches in `.holdfast`, with their copies. */
async function listCopies({ project }: TestWatch): Promise<readonly string[]> {
  const home = join(project.root, '.holdfast');
  const names = (await readdir(home).catch(() => [])).filter((name) => name.startsWith('watch-'));
  return (await Promise.all(names.map((name) => readdir(join(home, name))))).flat();
}

test('copies exist from the first call until the next version, and none remains at the end', async () => {
  await using watch = await startWatch(two);
  expect(await listCopies(watch)).toEqual([]);
  await watch.answers();
  const first = await listCopies(watch);
  expect(first).toHaveLength(2);
  // Read again without changes.
  await watch.watched.reload();
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  await watch.answers();
  const second = await listCopies(watch);
  expect(second).toHaveLength(2);
  expect(second.filter((digest) => first.includes(digest))).toHaveLength(1);
  await watch.watched.close();
  expect(await readdir(join(watch.project.root, '.holdfast'))).toEqual(['.gitignore']);
});

test('a damaged copy is recreated', async () => {
  await using watch = await startWatch(two, { isolation: 'subprocess' });
  expect(await watch.answers()).toEqual({ a: 1, b: 2 });
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  const home = join(watch.project.root, '.holdfast');
  const [own = ''] = (await readdir(home)).filter((name) => name.startsWith('watch-'));
  const digest = watch.watched.tools[0]?.origin?.digest ?? '';
  await watch.project.write(`.holdfast/${own}/${digest}/files/plugins/a.mjs`, answering('a', 666));
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('leftovers of watches whose process ended are removed, and nothing else', async () => {
  await using project = await createProject(two);
  const first = await watchTools(project.plugins, { isolation: 'in-process' });
  await callTool(first.tools[0]);
  const home = join(project.root, '.holdfast');
  const [own = ''] = (await readdir(home)).filter((name) => name.startsWith('watch-'));
  // A process number that does not exist.
  const left = own.replace(/^(watch-\w{8})-\d+/, '$1-4294967');
  const others = [own.replace(/^watch-\w{8}/, 'watch-00000000'), 'watch-mine', 'tools'];
  for (const name of [left, ...others]) await project.write(`.holdfast/${name}/x`, '');
  const second = await watchTools(project.plugins, { isolation: 'in-process' });
  expect((await readdir(home)).sort()).toEqual(['.gitignore', own, ...others].sort());
  expect(await callTool(first.tools[0])).toBe(1);
  await first.close();
  await second.close();
});

test('without a writable folder, tools run in place', async () => {
  await using project = await createProject(two);
  await project.write('elsewhere/x', '');
  await symlink('elsewhere', join(project.root, '.holdfast'));
  const watched = await watchTools(project.plugins, { isolation: 'in-process' });
  expect(watched.diagnostics).toMatchObject([
    {
      code: 'tool.watch.failed',
      reason: 'unkept',
      severity: 'warning',
      message: expect.stringContaining('symbolic link'),
    },
    { code: 'tool.watch.failed', reason: 'unkept' },
  ]);
  expect(await callTool(watched.tools[0])).toBe(1);
  expect(await readdir(join(project.root, 'elsewhere'))).toEqual(['x']);
  await watched.close();
});

test('a thousand events cause one reload, and one during a reload causes another', async () => {
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
  // Requests now share the started reload.
  await watch.watched.reload();
  expect({ scans, timers, answers: await watch.answers() }).toEqual({ scans: 2, timers: 2, answers: { a: 3, b: 2 } });
  await watch.project.write('plugins/a.mjs', answering('a', 4));
  time.advance(1000);
  await watch.watched.reload();
  expect({ scans, answers: await watch.answers() }).toEqual({ scans: 3, answers: { a: 4, b: 2 } });
});

test('concurrent requests share reloads', async () => {
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
  [new Error('no more'), 'no more', 'manually'],
  [null, 'null', 'manually'],
])(
  'folders that cannot be watched, for %s, are reported until they can, and tools stay',
  async (thrown, message, hint) => {
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
  },
);

test('an error of a listener is ignored', async () => {
  await using watch = await startWatch(two, {
    onReload: () => {
      throw new Error('no');
    },
  });
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect(await watch.answers()).toEqual({ a: 3, b: 2 });
});

test('outdated modules in this process are reported', async () => {
  await using watch = await startWatch(two);
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  // It was never called.
  expect(watch.codes()).toEqual([]);
  await watch.answers();
  await watch.edit({ 'plugins/a.mjs': answering('a', 4) });
  expect(watch.codes()).toEqual(['. tool.watch.failed: retained (warning)']);
  expect(watch.watched.diagnostics[0]?.message).toContain('1 old version ');
  await watch.answers();
  await watch.edit({ 'plugins/a.mjs': null, 'plugins/b.mjs': null });
  expect(watch.watched.diagnostics[0]?.message).toContain('3 old versions ');
  // The same module again.
  await watch.edit({ 'plugins/b.mjs': answering('b', 2) });
  expect(watch.watched.diagnostics[0]?.message).toContain('2 old versions ');
});

test.each(['worker', 'subprocess'] as const)('a %s keeps no outdated modules', async (isolation) => {
  await using watch = await startWatch(two, { isolation });
  await watch.answers();
  await watch.edit({ 'plugins/a.mjs': answering('a', 3) });
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { a: 3, b: 2 }, codes: [] });
});

test('follows the files of tools in any location, missing ones, and the lock', async () => {
  const code = "import { word } from '../src/word.mjs';";
  const files = { 'plugins/a.mjs': toolFile('a', { code }), 'src/word.mjs': 'export const word = 1;' };
  await using watch = await startWatch(files, { locked: true });
  const all = ['holdfast.lock', 'plugins/a.mjs', 'src/word.mjs'];
  expect(watch.followed).toEqual(all);
  await watch.watched.reload();
  // Nothing was read: everything matched the registry.
  expect(watch.followed).toEqual(all);
  await watch.edit({ 'plugins/a.mjs': toolFile('a', { code: "import { word } from '../src/none.mjs';" }) });
  expect(watch.followed).toEqual([...all, 'src/none.mjs'].sort());
});

test('after closing, calls are rejected and nothing is read', async () => {
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
  expect(await callTool(watched.tools[0])).toBe('threw tool.process.lost');
  await watch[Symbol.asyncDispose]();
});

test('closing waits for a running reload', async () => {
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

test('closing ends running calls in processes', async () => {
  const watch = await startWatch({ 'plugins/a.mjs': waiting(1), 'plugins/_late.mjs': '' }, { isolation: 'subprocess' });
  const call = callTool(watch.watched.tools[0], testContext(), { text: join(watch.project.root, 'never') });
  await watch.watched.close();
  expect(await call).toBe('threw tool.process.lost');
  await watch[Symbol.asyncDispose]();
});

test.each([
  ['none', {}, 'tools.folder.unreadable: missing'],
  ['file', {}, 'tools.folder.unreadable: not_directory'],
  ['plugins', { lock: 'holdfast.lock' }, 'lock.invalid: missing'],
  ['plugins', { lock: 'deep/holdfast.lock' }, 'lock.invalid: outside'],
])('a watch of `%s` with %j does not start: %s', async (folder, { lock }: { readonly lock?: string }, code) => {
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
  await expect(watchToolsWith(join(project.root, folder), options, seams)).rejects.toSatisfy(
    (error: { code: string }) => describeCode(error) === code,
  );
  expect(open).toBe(0);
  expect((await readdir(project.root)).sort()).toEqual(['deep', 'file', 'plugins']);
});
