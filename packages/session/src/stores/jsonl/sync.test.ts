import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type LogFiles, nodeFiles } from '../../disk/files.ts';
import { createJsonlLog, type JsonlOptions, openJsonlLog, readLog } from '../../jsonl.ts';
import { goOnWithLog } from './open.ts';
import { beginJsonlLog } from './store.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-sync-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newPath = (): string => join(mkdtempSync(join(root, 'f-')), 's.jsonl');

/** Files with manual syncs, and a record of the relevant operations. */
function slowDisk(): {
  readonly files: LogFiles;
  readonly done: string[];
  /** Completes the running sync. */
  readonly end: (failure?: Error) => void;
} {
  const done: string[] = [];
  let current = Promise.withResolvers<void>();
  let log: number | undefined;
  const files: LogFiles = {
    ...nodeFiles,
    syncLater() {
      done.push('sync later');
      current = Promise.withResolvers<void>();
      return current.promise;
    },
    sync() {
      done.push('sync');
    },
    syncFolder(path) {
      done.push(`sync folder ${path.slice(root.length)}`);
    },
    open(path, how) {
      const descriptor = nodeFiles.open(path, how);
      if (path.endsWith('.jsonl')) log = descriptor;
      return descriptor;
    },
    close(descriptor) {
      if (descriptor === log) done.push('close');
      nodeFiles.close(descriptor);
    },
  };
  return { files, done, end: (failure) => (failure === undefined ? current.resolve() : current.reject(failure)) };
}

const disk: JsonlOptions = { sync: 'disk' };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The outcomes of `promises` so far. */
function watch(promises: readonly (Promise<void> | undefined)[]): readonly string[] {
  const ends = promises.map(() => 'waits');
  for (const [index, promise] of promises.entries()) {
    promise?.then(
      () => {
        ends[index] = 'done';
      },
      (error: { readonly code: string }) => {
        ends[index] = error.code;
      },
    );
  }
  return ends;
}

test('without the option there is no sync; other values are rejected', () => {
  const path = newPath();
  const store = createJsonlLog(path);
  expect('sync' in store).toBe(false);
  store.close();
  expect('sync' in openJsonlLog(path).store).toBe(false);
  // As from untyped JavaScript.
  const options = { sync: 'disc' } as unknown as JsonlOptions;
  expect(() => createJsonlLog(newPath(), options)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  expect(() => openJsonlLog(path, options)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('a record is on the real disk after its sync', async () => {
  const path = newPath();
  const store = createJsonlLog(path, disk);
  store.append({ type: 'one' }, 0, 1);
  await store.sync?.();
  store.close();
  const opened = openJsonlLog(path, disk);
  opened.store.append({ type: 'two' }, 1, 1);
  await opened.store.sync?.();
  opened.store.close();
  expect(readLog(path).records).toHaveLength(2);
});

test('requests during a sync share the next one', async () => {
  const { files, done, end } = slowDisk();
  const store = beginJsonlLog(newPath(), files, disk);
  done.length = 0;
  store.append({ type: 'one' }, 0, 1);
  const ends = watch([store.sync?.(), store.sync?.(), store.sync?.()]);
  store.append({ type: 'two' }, 1, 1);
  const later = watch([store.sync?.(), store.sync?.()]);
  await turn();
  expect([ends, later, done]).toEqual([['waits', 'waits', 'waits'], ['waits', 'waits'], ['sync later']]);
  end();
  await turn();
  // The first sync does not cover later requests.
  expect([ends, later, done]).toEqual([
    ['done', 'waits', 'waits'],
    ['waits', 'waits'],
    ['sync later', 'sync later'],
  ]);
  end();
  await turn();
  expect([ends, later]).toEqual([
    ['done', 'done', 'done'],
    ['done', 'done'],
  ]);
  // Nothing was added.
  await store.sync?.();
  expect(done).toEqual(['sync later', 'sync later']);
  store.close();
});

test('log.broken: sync is final: further syncs and appends fail', async () => {
  const { files, done, end } = slowDisk();
  const path = newPath();
  const store = beginJsonlLog(path, files, disk);
  store.append({ type: 'one' }, 0, 1);
  const ends = watch([store.sync?.(), store.sync?.()]);
  end(new Error('EIO'));
  await turn();
  expect(ends).toEqual(['log.broken', 'log.broken']);
  expect(() => store.append({ type: 'two' }, 1, 1)).toThrow(expect.objectContaining({ code: 'log.broken' }));
  await expect(store.sync?.()).rejects.toMatchObject({ code: 'log.broken', reason: 'sync' });
  expect(done.filter((what) => what === 'sync later')).toHaveLength(1);
  store.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
  expect(readLog(path).records).toHaveLength(1);
});

test('closing syncs appended records, and reports a failure', async () => {
  const { files, done } = slowDisk();
  const path = newPath();
  const store = beginJsonlLog(path, files, disk);
  store.append({ type: 'one' }, 0, 1);
  done.length = 0;
  store.close();
  expect(done[0]).toBe('sync');
  const failing = goOnWithLog(
    path,
    {
      ...files,
      sync: () => {
        throw new Error('EIO');
      },
    },
    disk,
  ).store;
  failing.append({ type: 'two' }, 1, 1);
  expect(() => failing.close()).toThrow(expect.objectContaining({ code: 'log.broken', reason: 'sync' }));
  expect(existsSync(`${path}.lock`)).toBe(false);
  await expect(failing.sync?.()).rejects.toMatchObject({ code: 'session.closed' });
});

test('a file is not closed during a sync, but its lock is released at once', async () => {
  const { files, done, end } = slowDisk();
  const path = newPath();
  const store = beginJsonlLog(path, files, disk);
  store.append({ type: 'one' }, 0, 1);
  const ends = watch([store.sync?.(), store.sync?.()]);
  done.length = 0;
  store.close();
  expect(done).toEqual([]);
  openJsonlLog(path).store.close();
  end();
  await turn();
  end();
  await turn();
  expect(ends).toEqual(['done', 'done']);
  expect(done.at(-1)).toBe('close');
});

test('the names of a new file and of its new folders are synced, once', () => {
  const { files, done } = slowDisk();
  const folder = mkdtempSync(join(root, 'f-'));
  const at = folder.slice(root.length);
  const store = beginJsonlLog(join(folder, 'a', 'b', 's.jsonl'), files, disk);
  expect(done.filter((what) => what.startsWith('sync'))).toEqual([
    `sync folder ${at}/a`,
    `sync folder ${at}`,
    `sync folder ${at}/a/b`,
  ]);
  store.close();
  const count = done.length;
  goOnWithLog(join(folder, 'a', 'b', 's.jsonl'), files, disk).store.close();
  expect(done.slice(count).filter((what) => what.startsWith('sync folder'))).toEqual([]);
});

test('log.write_failed: open: the name of a new file cannot be synced', () => {
  const path = newPath();
  const files: LogFiles = {
    ...nodeFiles,
    syncFolder() {
      throw new Error('EIO');
    },
  };
  expect(() => beginJsonlLog(path, files, disk)).toThrow(
    expect.objectContaining({ code: 'log.write_failed', reason: 'open' }),
  );
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('a snapshot syncs the previous file, the new file and its name', async () => {
  const { files, done } = slowDisk();
  const path = newPath();
  const store = beginJsonlLog(path, files, disk);
  store.append({ type: 'one' }, 0, 1);
  done.length = 0;
  store.append({ type: 'snapshot' }, 1, 1);
  const at = join(path, '..').slice(root.length);
  expect(done).toEqual(['sync', 'sync', `sync folder ${at}`, 'close']);
  // Nothing left to sync.
  await store.sync?.();
  expect(done).toHaveLength(4);
  store.append({ type: 'two' }, 2, 1);
  store.close();
  expect(readLog(path).records).toHaveLength(3);
});

test('a file is closed after its running sync, even after a rotation', async () => {
  const { files, done, end } = slowDisk();
  const closed: number[] = [];
  const path = newPath();
  const store = beginJsonlLog(
    path,
    {
      ...files,
      close: (descriptor) => {
        closed.push(descriptor);
        files.close(descriptor);
      },
    },
    disk,
  );
  store.append({ type: 'one' }, 0, 1);
  const ends = watch([store.sync?.()]);
  closed.length = 0;
  store.append({ type: 'snapshot' }, 1, 1);
  expect([closed, ends]).toEqual([[], ['waits']]);
  end();
  await turn();
  expect([closed.length, ends]).toEqual([1, ['done']]);
  expect(done.filter((what) => what === 'sync later')).toHaveLength(1);
  store.close();
  expect(readLog(path).records).toHaveLength(2);
});

test.each([
  ['of the file before', 0],
  ['of the name of the new one', 2],
])('log.broken: sync: a sync %s fails during a snapshot', async (_what, failing) => {
  const { files } = slowDisk();
  let syncs = -1;
  const fail = (): void => {
    syncs += 1;
    if (syncs === failing) throw new Error('EIO');
  };
  const path = newPath();
  const open = new Set<number>();
  const failingFiles: LogFiles = {
    ...files,
    sync: fail,
    syncFolder: () => (syncs < 0 ? undefined : fail()),
    open(name, how) {
      const descriptor = files.open(name, how);
      open.add(descriptor);
      return descriptor;
    },
    close(descriptor) {
      open.delete(descriptor);
      files.close(descriptor);
    },
  };
  const store = beginJsonlLog(path, failingFiles, disk);
  store.append({ type: 'one' }, 0, 1);
  const snapshot = (): void => store.append({ type: 'snapshot' }, 1, 1);
  // The snapshot itself may be written.
  if (failing === 0) expect(snapshot).toThrow(expect.objectContaining({ code: 'log.write_failed' }));
  else snapshot();
  expect(() => store.append({ type: 'two' }, 2, 1)).toThrow(expect.objectContaining({ code: 'log.broken' }));
  await expect(store.sync?.()).rejects.toMatchObject({ code: 'log.broken', reason: 'sync' });
  store.close();
  expect(open.size).toBe(0);
  const opened = openJsonlLog(path);
  opened.store.close();
  expect(readLog(path).records.map(({ type }) => type)).toEqual(failing === 0 ? ['one'] : ['one', 'snapshot']);
});

test('a new file that cannot be synced is not used: the snapshot stays in the current file', () => {
  const path = newPath();
  const files: LogFiles = {
    ...nodeFiles,
    sync() {
      throw new Error('EIO');
    },
  };
  const store = beginJsonlLog(path, files);
  store.append({ type: 'one' }, 0, 1);
  store.append({ type: 'snapshot' }, 1, 1);
  store.append({ type: 'two' }, 2, 1);
  store.close();
  expect(existsSync(`${path}.next`)).toBe(false);
  expect(openJsonlLogRecords(path)).toEqual(['one', 'snapshot', 'two']);
});

function openJsonlLogRecords(path: string): readonly string[] {
  const { records, store } = openJsonlLog(path);
  store.close();
  return records.map(({ type }) => type);
}
