import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFollowedFiles, type FollowedFiles, type WatchPath, watchFolder } from './folder.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-course-'));
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true });
});

/** Watches that tell what a test tells them. */
function fakeWatches(fails: (path: string) => boolean = () => false) {
  const open = new Map<object, { readonly path: string; readonly tell: (name: string | null) => void; fail(): void }>();
  let calls = 0;
  const watchPath: WatchPath = (path, listener) => {
    calls += 1;
    if (fails(path)) throw new Error('no more watches');
    const errors: (() => void)[] = [];
    const own = {
      on: (_: 'error', told: () => void) => errors.push(told),
      close: () => void open.delete(own),
    };
    open.set(own, {
      path,
      tell: (name) => listener('change', name),
      fail() {
        for (const told of errors) told();
      },
    });
    return own;
  };
  const paths = (): readonly string[] => [...open.values()].map(({ path }) => path).sort();
  const at = (path: string) => [...open.values()].find((one) => one.path === path);
  return { watchPath, paths, at, calls: () => calls };
}

/** Resolves with each telling. */
function listen() {
  let heard = Promise.withResolvers<string | undefined>();
  let count = 0;
  return {
    count: () => count,
    changed(path: string | undefined): void {
      count += 1;
      heard.resolve(path);
      heard = Promise.withResolvers();
    },
    next: () => heard.promise,
  };
}

async function start(followed: FollowedFiles = createFollowedFiles(), fails?: (path: string) => boolean) {
  const watches = fakeWatches(fails);
  const { changed, next, count } = listen();
  const watch = await watchFolder(root, { followed, changed, watchPath: watches.watchPath });
  return { ...watches, followed, next, count, watch };
}

test('where the system does not say what has changed, anything may have', async () => {
  const { at, next, watch } = await start();
  const told = next();
  at(root)?.tell(null);
  expect(await told).toBeUndefined();
  watch.close();
});

test('a watch that fails is closed and opened anew, so that there is one for each folder', async () => {
  const { at, paths, next, watch } = await start();
  const before = paths();
  const failed = at(root);
  const told = next();
  failed?.fail();
  await told;
  expect(paths()).toEqual(before);
  expect(at(root)).not.toBe(failed);
  watch.close();
  expect(paths()).toEqual([]);
});

test('what is asked for while folders are looked for is watched, too', async () => {
  await mkdir(join(root, 'other'));
  const { followed, next, paths, watch } = await start();
  const first = next();
  // Of this one there is nothing to watch, so nothing makes it look again.
  followed.add('missing/a.json');
  followed.add('other/b.json');
  await first;
  while (!paths().includes(join(root, 'other'))) await next();
  watch.close();
  expect(paths()).toEqual([]);
});

test('so is what is asked for while the watch begins', async () => {
  await mkdir(join(root, 'other'));
  const followed = createFollowedFiles();
  let looks = 0;
  const late: FollowedFiles = {
    ...followed,
    folders() {
      looks += 1;
      const found = new Set(followed.folders());
      if (looks === 2) queueMicrotask(() => followed.add('other/b.json'));
      return found;
    },
  };
  const { next, paths, watch } = await start(late);
  while (!paths().includes(join(root, 'other'))) await next();
  watch.close();
  expect(paths()).toEqual([]);
});

test('a watch that is closed while folders are looked for opens none, and hears of none', async () => {
  await mkdir(join(root, 'other'));
  const { followed, paths, calls, count, watch } = await start();
  followed.add('other/b.json');
  watch.close();
  const before = calls();
  // Takes as long as looking does.
  const another = await start(createFollowedFiles());
  another.watch.close();
  followed.add('late/c.json');
  const more = await start(createFollowedFiles());
  more.watch.close();
  expect([paths(), calls(), count()]).toEqual([[], before, 0]);
});

test('what failed is asked for again, once, and by a closed watch no more', async () => {
  await mkdir(join(root, 'deep'));
  const { followed, next, calls, watch } = await start(createFollowedFiles(), (path) => path.endsWith('deep'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const path of ['deep/m.json', 'deep/er/m.json']) {
    const told = next();
    followed.add(path);
    await told;
  }
  const asked = calls();
  const again = next();
  vi.advanceTimersByTime(1_000);
  await again;
  expect(calls()).toBe(asked + 1);
  watch.close();
  vi.advanceTimersByTime(10_000);
  // Takes as long as asking does.
  const another = await start();
  another.watch.close();
  expect(calls()).toBe(asked + 1);
});
