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

/** A watch of folders in `root`, by events that the test makes. */
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
    /** What was told since the last call. */
    told: () => told.splice(0),
    opened: () => opened,
    paths: () => [...open.values()].map(({ path }) => toName(path)).sort(),
    at: (path: string) => [...open.values()].find((one) => toName(one.path) === path),
  };
}

test('whatever happens in a folder is told by its path, from the first update on', async () => {
  await mkdir(join(root, 'a'));
  const { watch, paths, told, at } = start(() => ['.', 'a']);
  expect(paths()).toEqual([]);
  expect(await watch.update()).toEqual([]);
  expect([paths(), told()]).toEqual([['.', 'a'], []]);
  at('a')?.tell('x.json');
  at('.')?.tell('y.json');
  expect(told()).toEqual(['a/x.json', 'y.json']);
  // Nothing is new.
  expect(await watch.update()).toEqual([]);
  expect(told()).toEqual([]);
  watch.close();
  expect(paths()).toEqual([]);
});

test('where the system does not say what has changed, anything may have', async () => {
  const { watch, told, at } = start(() => ['.']);
  await watch.update();
  at('.')?.tell(null);
  expect(told()).toEqual([any]);
  watch.close();
});

test('a watch that fails is closed and opened anew, so that there is one for each folder', async () => {
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
  { name: 'of which the system has said so', tell: true },
  { name: 'of which the system has said nothing', tell: false },
])('a folder in the place of another, $name', async ({ tell }) => {
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

test('a missing folder is waited for in the nearest one that exists', async () => {
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

test('a folder that counts from now on may have had changes, whether it exists or not', async () => {
  const folders = ['.'];
  await mkdir(join(root, 'other'));
  const { watch, paths, told } = start(() => folders);
  await watch.update();
  folders.push('missing');
  await watch.update();
  expect([paths(), told()]).toEqual([['.'], [any]]);
  // One while another is looked for.
  folders.push('other');
  const first = watch.update();
  folders.push('missing/too');
  await Promise.all([first, watch.update()]);
  expect(paths()).toEqual(['.', 'other']);
  watch.close();
});

test('a folder that comes into a new one while it is found is found, too', async () => {
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

test('an update that has not begun serves every caller', async () => {
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

test('a watch that is closed during an update opens none, and tells of none', async () => {
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

test('what cannot be watched is tried again, once, and by a closed watch no more', async () => {
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

test('a closed watch tries nothing again', async () => {
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

test('a folder that goes between being found and being watched is no failure', async () => {
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
