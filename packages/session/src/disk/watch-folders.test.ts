import { mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FolderEvents, type FolderWatch, type WatchFolder, watchFolders } from './watch-folders.ts';

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-folders-')));
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true });
});

const any = '(any)';

/** Watches folders in `root`, driven by events from the test. */
function start(folders: () => readonly string[], fails: (path: string) => boolean = () => false) {
  const open = new Map<FolderEvents, { readonly path: string; tell(name: string | null): void; fail(): void }>();
  const told: string[] = [];
  let opened = 0;
  const watchFolder: WatchFolder = (path, listener) => {
    opened += 1;
    if (fails(path)) throw new Error('no more watches');
    let onError = (): void => undefined;
    const own: FolderEvents = {
      on: (_, listen) => {
        onError = listen;
      },
      close: () => void open.delete(own),
    };
    open.set(own, { path, tell: (name) => listener('change', name), fail: () => onError() });
    return own;
  };
  const toName = (path: string): string => (path === root ? '.' : path.replace(`${root}/`, ''));
  const watch: FolderWatch = watchFolders({
    folders: () => folders().map((folder) => join(root, folder)),
    changed: (path) => void told.push(path === undefined ? any : toName(path)),
    watchFolder,
  });
  return {
    watch,
    /** The changes reported since the last call. */
    told: () => told.splice(0),
    opened: () => opened,
    paths: () => [...open.values()].map(({ path }) => toName(path)).sort(),
    at: (path: string) => [...open.values()].find((one) => toName(one.path) === path),
  };
}

test('changes in a folder are reported by path, from the first update on', async () => {
  await mkdir(join(root, 'a'));
  const { watch, paths, told, at } = start(() => ['.', 'a']);
  expect(paths()).toEqual([]);
  expect(await watch.update()).toEqual([]);
  expect([paths(), told()]).toEqual([['.', 'a'], []]);
  at('a')?.tell('x.json');
  at('.')?.tell('y.json');
  expect(told()).toEqual(['a/x.json', 'y.json']);
  // No change yet.
  expect(await watch.update()).toEqual([]);
  expect(told()).toEqual([]);
  watch.close();
  expect(paths()).toEqual([]);
});

test('without a name from the system, anything may have changed', async () => {
  const { watch, told, at } = start(() => ['.']);
  await watch.update();
  at('.')?.tell(null);
  expect(told()).toEqual([any]);
  watch.close();
});

test('a failed watch is closed and reopened: one watch per folder', async () => {
  const { watch, paths, told, at } = start(() => ['.']);
  await watch.update();
  const failed = at('.');
  failed?.fail();
  expect(told()).toEqual([any]);
  await watch.update();
  expect([paths(), told()]).toEqual([['.'], [any]]);
  expect(at('.')).not.toBe(failed);
  watch.close();
});

test.each<{ name: string; tell: boolean }>([
  { name: 'reported by the system', tell: true },
  { name: 'not reported by the system', tell: false },
])('a replaced folder, $name', async ({ tell }) => {
  await mkdir(join(root, 'a'));
  const { watch, paths, told, at } = start(() => ['a']);
  await watch.update();
  const first = at('a');
  await rename(join(root, 'a'), join(root, 'former'));
  await mkdir(join(root, 'a'));
  if (tell) first?.tell('a');
  expect(told()).toEqual(tell ? [any] : []);
  await watch.update();
  expect([paths(), told()]).toEqual([['a'], [any]]);
  expect(at('a')).not.toBe(first);
  watch.close();
});

test('a missing folder is awaited in its nearest existing parent', async () => {
  const { watch, paths, told, at } = start(() => ['a/b/c']);
  await watch.update();
  expect(paths()).toEqual(['.']);
  await mkdir(join(root, 'a/b'), { recursive: true });
  at('.')?.tell('other');
  expect([paths(), told()]).toEqual([['.'], ['other']]);
  at('.')?.tell('a');
  await watch.update();
  expect([paths(), told()]).toEqual([['a/b'], [any, any]]);
  watch.close();
});

test('a newly watched folder may have changed, whether or not it exists', async () => {
  const folders = ['.'];
  await mkdir(join(root, 'other'));
  const { watch, paths, told } = start(() => folders);
  await watch.update();
  folders.push('missing');
  await watch.update();
  expect([paths(), told()]).toEqual([['.'], [any]]);
  // The second arrives during the search for the first.
  folders.push('other');
  const first = watch.update();
  folders.push('missing/too');
  await Promise.all([first, watch.update()]);
  expect(paths()).toEqual(['.', 'other']);
  watch.close();
});

test('a folder created during the search is found, too', async () => {
  let looks = 0;
  const { watch, paths } = start(() => {
    looks += 1;
    return looks === 1 ? ['.'] : ['.', 'late'];
  });
  await mkdir(join(root, 'late'));
  await watch.update();
  expect(paths()).toEqual(['.', 'late']);
  watch.close();
});

test('a pending update serves every caller', async () => {
  let looks = 0;
  const { watch } = start(() => {
    looks += 1;
    return ['.'];
  });
  await watch.update();
  looks = 0;
  await Promise.all(Array.from({ length: 10 }, () => watch.update()));
  expect(looks).toBe(1);
  watch.close();
});

test('closing during an update opens nothing and reports nothing', async () => {
  await mkdir(join(root, 'other'));
  const folders = ['.'];
  const { watch, paths, told, opened } = start(() => folders);
  await watch.update();
  const before = opened();
  folders.push('other');
  const updated = watch.update();
  watch.close();
  expect(await updated).toEqual([]);
  expect([paths(), told(), opened()]).toEqual([[], [], before]);
});

test('a failed watch is retried once, and never after closing', async () => {
  await mkdir(join(root, 'deep'));
  let isFull = true;
  const { watch, paths, told, opened } = start(
    () => ['.', 'deep'],
    (path) => isFull && path.endsWith('deep'),
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  expect(await watch.update()).toMatchObject([{ message: 'no more watches' }]);
  expect(await watch.update()).toMatchObject([{ message: 'no more watches' }]);
  expect(paths()).toEqual(['.']);
  const asked = opened();
  told();
  vi.advanceTimersByTime(1_000);
  expect(await watch.update()).toMatchObject([{ message: 'no more watches' }]);
  expect([opened(), told()]).toEqual([asked + 1, []]);
  isFull = false;
  vi.advanceTimersByTime(1_000);
  expect(await watch.update()).toEqual([]);
  expect([paths(), told()]).toEqual([['.', 'deep'], [any]]);
  vi.advanceTimersByTime(10_000);
  expect(opened()).toBe(asked + 2);
  watch.close();
});

test('a closed watch does not retry', async () => {
  const { watch, opened } = start(
    () => ['.'],
    () => true,
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  expect(await watch.update()).toHaveLength(1);
  watch.close();
  const before = opened();
  vi.advanceTimersByTime(10_000);
  await watch.update();
  expect(opened()).toBe(before);
});

test('a folder that disappears before it is watched is not a failure', async () => {
  await mkdir(join(root, 'a/b'), { recursive: true });
  let isThere = true;
  const { watch, paths } = start(
    () => ['a/b'],
    (path) => {
      if (path.endsWith('b') && isThere) rmFolder();
      return path.endsWith('b');
    },
  );
  const removing: Promise<void>[] = [];
  function rmFolder(): void {
    isThere = false;
    removing.push(rename(join(root, 'a/b'), join(root, 'former')));
  }
  await watch.update();
  await Promise.all(removing);
  expect(await watch.update()).toEqual([]);
  expect(paths()).toEqual(['a']);
  watch.close();
});
