import { isHoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import {
  createModuleEngine,
  type ModuleEvent,
  type ModuleSource,
  type ModuleWatch,
  memoryModules,
} from '@holdfast/modules';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { describeEvent, heldSource, question, startEngine, type TestEngine, versionModel } from './test-engine.ts';
import { manifestText, moduleFiles, moduleText } from './test-module-texts.ts';

interface Watched extends TestEngine {
  readonly watch: ModuleWatch;
  /** The next events, as lines. */
  next(count?: number): Promise<readonly string[]>;
}

async function startWatch(files: Readonly<Record<string, string>>): Promise<Watched> {
  const started = await startEngine(files);
  const watch = await started.engine.watch();
  const reader = watch[Symbol.asyncIterator]();
  return {
    ...started,
    watch,
    async next(count = 1) {
      const lines: string[] = [];
      while (lines.length < count) lines.push(describeNext(await reader.next()));
      return lines;
    },
  };
}

function describeNext({ value, done }: IteratorResult<ModuleEvent, undefined>): string {
  return done === true ? 'end' : describeEvent(value);
}

const codeOf = async (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => 'ok',
    (thrown: unknown) => (isHoldfastError(thrown) ? describeCode(thrown) : thrown),
  );

test('HOT-2: a touch without a change is skipped, also the first time', async () => {
  const { engine, source, clock, watch, next } = await startWatch(moduleFiles(['a', 'b']));
  const before = engine.getModule('a');
  for (let touch = 0; touch < 2; touch += 1) {
    source.write('a.json', moduleText('a', 1));
    clock.advance(50);
    expect(await next()).toEqual(['module-skipped a']);
  }
  expect(engine.getModule('a')).toBe(before);
  expect(watch.counters).toEqual({ reloaded: 0, failed: 0, skipped: 2, removed: 0, missed: 0 });
});

test.each([
  { mended: 'another version', version: 2 },
  { mended: 'what it was', version: 1 },
])('HOT-4: a broken module keeps its last good version, and mended to $mended it is changed', async ({ version }) => {
  const { engine, source, clock, next, ask } = await startWatch(moduleFiles(['a']));
  source.write('a.json', '{ "module_id": "a",');
  clock.advance(50);
  expect(await next()).toEqual(['module-failed a modules.invalid: file (kept)']);
  expect(await ask('a')).toBe('1');
  expect(engine.diagnostics).toMatchObject([
    { code: 'modules.invalid', reason: 'file', moduleId: 'a', path: 'a.json' },
  ]);
  source.write('a.json', moduleText('a', version));
  clock.advance(50);
  expect(await next()).toEqual(['module-changed a']);
  expect(await ask('a')).toBe(`${version}`);
  expect(engine.diagnostics).toEqual([]);
});

test('HOT-6: a file that is deleted takes its module along, and restored as it was brings it back', async () => {
  const { engine, source, clock, next, ask } = await startWatch(moduleFiles(['a', 'b']));
  source.remove('a.json');
  clock.advance(50);
  await engine.reloadModule('b');
  // It may be an editor that is about to put another one there.
  expect(await ask('a')).toBe('1');
  clock.advance(50);
  expect(await next(2)).toEqual(['module-skipped b', 'module-removed a']);
  expect(await codeOf(ask('a'))).toBe('modules.file_failed: not_found');
  expect(engine.moduleIds).toEqual(['b']);
  source.write('a.json', moduleText('a', 1));
  clock.advance(50);
  expect(await next()).toEqual(['module-added a']);
  expect(await ask('a')).toBe('1');
  expect(engine.moduleIds).toEqual(['a', 'b']);
  expect(engine.diagnostics).toEqual([]);
});

test('HOT-8: an edit of the manifest while one listed file is broken', async () => {
  const { engine, source, clock, watch, next, ask } = await startWatch(moduleFiles(['a', 'b']));
  source.write('a.json', '');
  source.write('c.json', moduleText('c', 1));
  source.write('manifest.json', manifestText(['c', 'b', 'a']));
  clock.advance(50);
  expect(await next(2)).toEqual(['module-added c', 'module-failed a modules.invalid: file (kept)']);
  source.write('manifest.json', manifestText(['b', 'a']));
  clock.advance(50);
  expect(await next(2)).toEqual(['module-failed a modules.invalid: file (kept)', 'module-removed c']);
  expect(await ask('a')).toBe('1');
  expect(engine.moduleIds).toEqual(['b', 'a']);
  expect(watch.counters).toEqual({ reloaded: 1, failed: 2, skipped: 0, removed: 1, missed: 0 });
});

test('a manifest that breaks or goes keeps every module, and what changes in their files is seen all the same', async () => {
  const { engine, source, clock, next, ask } = await startWatch(moduleFiles(['a', 'b']));
  source.write('manifest.json', manifestText(['a']).slice(0, -3));
  clock.advance(50);
  expect(await next()).toEqual(['manifest-failed modules.invalid: manifest']);
  source.write('a.json', moduleText('a', 2));
  clock.advance(50);
  expect(await next()).toEqual(['module-changed a']);
  source.remove('manifest.json');
  clock.advance(50);
  expect(await next()).toEqual(['manifest-failed modules.invalid: manifest_missing']);
  expect(engine.moduleIds).toEqual(['a', 'b']);
  expect(await ask('a')).toBe('2');
  source.write('manifest.json', manifestText(['a']));
  clock.advance(50);
  expect(await next()).toEqual(['module-removed b']);
  expect(engine.diagnostics).toEqual([]);
});

test('a module that the manifest newly lists needs no restart, in whichever order both are written', async () => {
  const { source, clock, next, ask } = await startWatch(moduleFiles(['a']));
  source.write('b.json', moduleText('b', 1));
  clock.advance(50);
  source.write('manifest.json', manifestText(['a', 'b', 'c']));
  clock.advance(50);
  expect(await next(2)).toEqual(['module-added b', 'module-failed c modules.invalid: file_missing']);
  source.write('c.json', moduleText('c', 1));
  clock.advance(50);
  expect(await next()).toEqual(['module-added c']);
  expect([await ask('b'), await ask('c')]).toEqual(['1', '1']);
});

test('HOT-10: 10,000 changes, and one reader that never reads: it loses the oldest, and another one nothing', async () => {
  const { source, clock, watch, next, ask } = await startWatch(moduleFiles(['a']));
  const idle = watch[Symbol.asyncIterator]();
  for (let version = 2; version <= 10_001; version += 1) {
    source.write('a.json', moduleText('a', version));
    clock.advance(50);
    expect(await next()).toEqual(['module-changed a']);
  }
  expect(await ask('a')).toBe('10001');
  expect(watch.counters).toEqual({ reloaded: 10_000, failed: 0, skipped: 0, removed: 0, missed: 9_000 });
  watch.close();
  let kept = 0;
  for (let step = await idle.next(); step.done !== true; step = await idle.next()) kept += 1;
  expect(kept).toBe(1000);
});

test('10,000 changes of one group are one reload, which changes that never end do not put off', async () => {
  const { engine, source, clock, watch, next, ask } = await startWatch(moduleFiles(['a', 'b']));
  for (let version = 2; version <= 10_001; version += 1) source.write('a.json', moduleText('a', version));
  for (let index = 0; index < 20_000; index += 1) source.write(`other-${index}.json`, '');
  for (let step = 0; step < 5; step += 1) {
    clock.advance(10);
    source.write('a.json', moduleText('a', `last-${step}`));
  }
  expect(await next()).toEqual(['module-changed a']);
  expect(await ask('a')).toBe('last-4');
  clock.advance(50);
  await engine.reloadModule('a');
  // So many other files have changed that everything was read.
  expect(watch.counters.reloaded + watch.counters.failed).toBe(1);
});

test('HOT-12: a watch that is started twice is a clear error, and after it was closed it may be started again', async () => {
  const { engine, watch, source, clock, ask } = await startWatch(moduleFiles(['a']));
  await expect(engine.watch()).rejects.toMatchObject({
    code: 'modules.file_failed',
    reason: 'watch_started',
    message: '`memory` is already being watched. Use that watch or close it first.',
  });
  watch.close();
  source.write('a.json', moduleText('a', 2));
  clock.advance(1_000);
  expect(await ask('a')).toBe('1');
  const again = await engine.watch();
  // Changes made while nothing watched are in force.
  expect(await ask('a')).toBe('2');
  expect(again.counters).toEqual({ reloaded: 0, failed: 0, skipped: 0, removed: 0, missed: 0 });
  watch.close();
  expect(await codeOf(engine.watch())).toBe('modules.file_failed: watch_started');
});

test('HOT-14: a file that an editor moves away and replaces by another one is changed, not removed', async () => {
  const { source, clock, watch, next, ask } = await startWatch(moduleFiles(['a', 'b']));
  source.write('a.json~', moduleText('a', 1));
  source.remove('a.json');
  clock.advance(50);
  source.write('b.json', moduleText('b', 2));
  clock.advance(20);
  source.write('a.json', moduleText('a', 2));
  clock.advance(50);
  expect(new Set(await next(2))).toEqual(new Set(['module-changed a', 'module-changed b']));
  expect(await ask('a')).toBe('2');
  expect(watch.counters).toMatchObject({ reloaded: 2, removed: 0 });
});

test('HOT-16: counters after two good changes, a failed one and a skipped one', async () => {
  const { source, clock, watch, next } = await startWatch(moduleFiles(['a', 'b']));
  for (const text of [moduleText('a', 2), moduleText('a', 3), '[]', moduleText('b', 1)]) {
    source.write(text === moduleText('b', 1) ? 'b.json' : 'a.json', text);
    clock.advance(50);
    await next();
  }
  expect(watch.counters).toEqual({ reloaded: 2, failed: 1, skipped: 1, removed: 0, missed: 0 });
});

test('a source that does not say what has changed has everything read again', async () => {
  const inner = memoryModules(moduleFiles(['a', 'b']));
  let changed: (path: string | undefined) => void = () => undefined;
  const source: ModuleSource = {
    name: 'vague',
    read: inner.read,
    watch: async (listener) => {
      changed = listener;
      return { close: () => undefined };
    },
  };
  const clock = manualClock();
  const engine = await createModuleEngine({ source, signatures: [question], model: versionModel(), clock });
  const reader = (await engine.watch())[Symbol.asyncIterator]();
  inner.write('b.json', moduleText('b', 2));
  changed(undefined);
  clock.advance(50);
  expect([await reader.next(), await reader.next()].map(describeNext)).toEqual([
    'module-skipped a',
    'module-changed b',
  ]);
});

test('a source that tells of no changes cannot be watched, and one that fails to may be tried again', async () => {
  const inner = memoryModules(moduleFiles(['a']));
  const deaf = await createModuleEngine({
    source: { name: 'deaf', read: inner.read },
    signatures: [question],
    model: versionModel(),
  });
  for (let count = 0; count < 2; count += 1) {
    await expect(deaf.watch()).rejects.toMatchObject({
      code: 'modules.file_failed',
      reason: 'watch_unavailable',
      message: '`deaf` does not report changes and cannot be watched. Call `reloadAll` after a change.',
    });
  }
  let isThere = false;
  const late = await createModuleEngine({
    source: {
      name: 'late',
      read: inner.read,
      watch: async (changed) => {
        if (!isThere) throw new Error('not there');
        return inner.watch(changed);
      },
    },
    signatures: [question],
    model: versionModel(),
  });
  await expect(late.watch()).rejects.toThrow('not there');
  isThere = true;
  (await late.watch()).close();
});

test('a reader that throws ends itself and nothing else', async () => {
  const { source, clock, watch, next } = await startWatch(moduleFiles(['a']));
  const throwing = (async () => {
    for await (const event of watch) throw new Error(describeEvent(event));
  })().catch((thrown: unknown) => thrown);
  for (const version of [2, 3]) {
    source.write('a.json', moduleText('a', version));
    clock.advance(50);
    expect(await next()).toEqual(['module-changed a']);
  }
  expect(await throwing).toMatchObject({ message: 'module-changed a' });
});

test('closing ends readers, timers and what is just being read', async () => {
  const source = memoryModules(moduleFiles(['a']));
  const held = heldSource(source);
  const clock = manualClock();
  const engine = await createModuleEngine({ source: held, signatures: [question], model: versionModel(), clock });
  const watch = await engine.watch();
  const reader = watch[Symbol.asyncIterator]();
  const waiting = reader.next();
  const before = engine.getModule('a');
  const first = held.reads.length;
  held.hold();
  source.write('a.json', moduleText('a', 2));
  clock.advance(50);
  await held.reached(first + 1);
  source.write('a.json', moduleText('a', 3));
  expect(clock.pending).toBe(1);
  watch.close();
  watch.close();
  expect(clock.pending).toBe(0);
  expect(await waiting).toEqual({ done: true, value: undefined });
  source.write('a.json', moduleText('a', 4));
  expect(clock.pending).toBe(0);
  held.release();
  // One at a time: when this one is done, that one was.
  await engine.reloadModule('missing').catch(() => undefined);
  expect(engine.getModule('a')).toBe(before);
  expect(watch.counters).toEqual({ reloaded: 0, failed: 0, skipped: 0, removed: 0, missed: 0 });
});

test('reloads by hand and those of the watch come one at a time, in order, and are all told', async () => {
  const source = memoryModules(moduleFiles(['a', 'b']));
  const held = heldSource(source);
  const clock = manualClock();
  const engine = await createModuleEngine({ source: held, signatures: [question], model: versionModel(), clock });
  const watch = await engine.watch();
  const reader = watch[Symbol.asyncIterator]();
  const first = held.reads.length;
  held.hold();
  source.write('a.json', moduleText('a', 2));
  clock.advance(50);
  await held.reached(first + 1);
  source.write('b.json', moduleText('b', 2));
  const byHand = [engine.reloadModule('b'), engine.reloadAll()];
  // While they wait, changes pile up to one more reload.
  for (let step = 0; step < 10; step += 1) {
    source.write('a.json', moduleText('a', 3));
    clock.advance(50);
  }
  expect(held.reads.slice(first)).toEqual(['a.json']);
  held.release();
  expect((await Promise.all(byHand)).map((events) => events.map(describeEvent))).toEqual([
    ['module-changed b'],
    ['module-skipped a', 'module-skipped b'],
  ]);
  const lines: string[] = [];
  while (lines.length < 6) lines.push(describeNext(await reader.next()));
  expect(lines).toEqual([
    'module-changed a',
    'module-changed b',
    'module-skipped a',
    'module-skipped b',
    'module-skipped a',
    'module-skipped b',
  ]);
  const { length } = ['a.json', 'manifest.json', 'b.json', 'manifest.json', 'a.json', 'b.json', 'a.json', 'b.json'];
  expect(held.reads.length - first).toBe(length);
});
