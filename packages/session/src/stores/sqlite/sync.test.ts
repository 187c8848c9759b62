import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type LogFiles, nodeFiles } from '../../disk/files.ts';
import { createSqliteLog, openSqliteLog, readSqliteLog, type SqliteLogOptions } from '../../sqlite.ts';
import { beginSqliteLog } from './open.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-sync-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newPath = (): string => join(mkdtempSync(join(root, 'f-')), 's.db');
const sessionId = 's';
const disk: SqliteLogOptions = { sessionId, sync: 'disk' };
const code = (name: string): unknown => expect.objectContaining({ code: name });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Files with manual syncs, and a record of their operations. */
function slowDisk(): {
  readonly files: LogFiles;
  readonly done: string[];
  /** Completes the running sync. */
  readonly end: (failure?: Error) => void;
} {
  const done: string[] = [];
  let current = Promise.withResolvers<void>();
  const files: LogFiles = {
    ...nodeFiles,
    open(path, how) {
      done.push(`open ${path.slice(path.lastIndexOf('/') + 1)}`);
      return nodeFiles.open(path, how);
    },
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
    close(descriptor) {
      done.push('close');
      nodeFiles.close(descriptor);
    },
  };
  return { files, done, end: (failure) => (failure === undefined ? current.resolve() : current.reject(failure)) };
}

test('without the option there is no sync; other values are rejected', () => {
  const path = newPath();
  const store = createSqliteLog(path, { sessionId });
  expect('sync' in store).toBe(false);
  store.close();
  // As from untyped JavaScript.
  const options = { sessionId, sync: 'disc' } as unknown as SqliteLogOptions;
  expect(() => createSqliteLog(newPath(), options)).toThrow(code('options.invalid'));
  expect(() => openSqliteLog(path, options)).toThrow(code('options.invalid'));
});

test('a record is on the real disk after its sync', async () => {
  const path = newPath();
  const store = createSqliteLog(path, disk);
  store.append({ type: 'one' }, 0, 1);
  await store.sync?.();
  // More than the write-ahead log holds before it restarts.
  for (let seq = 1; seq < 60; seq += 1) {
    store.append({ type: 'large', text: 'x'.repeat(100_000) }, seq, 1);
    await store.sync?.();
  }
  store.close();
  const opened = openSqliteLog(path, disk);
  opened.store.append({ type: 'two' }, 60, 1);
  await opened.store.sync?.();
  opened.store.close();
  expect(readSqliteLog(path, { sessionId }).records).toHaveLength(61);
});

test('concurrent requests share a sync of the write-ahead log', async () => {
  const { files, done, end } = slowDisk();
  const store = beginSqliteLog(newPath(), disk, files);
  expect(done.at(-1)).toBe('open s.db-wal');
  done.length = 0;
  const asked: Promise<void>[] = [];
  for (let seq = 0; seq < 20; seq += 1) {
    store.append({ type: 'note' }, seq, 1);
    asked.push(store.sync?.() ?? Promise.reject(new Error('no sync')));
  }
  for (let ends = 0; ends < 2; ends += 1) {
    await turn();
    end();
  }
  await Promise.all(asked);
  expect(done.length).toBeLessThanOrEqual(2);
  // Nothing was added.
  await store.sync?.();
  expect(new Set(done)).toEqual(new Set(['sync later']));
  done.length = 0;
  store.append({ type: 'note' }, 20, 1);
  const again = store.sync?.();
  await turn();
  expect(done).toEqual(['sync later']);
  end();
  await again;
  store.close();
});

test('all callers released by a sync share the next one', async () => {
  const { files, done, end } = slowDisk();
  const store = beginSqliteLog(newPath(), disk, files);
  let seq = 0;
  const call = async (): Promise<void> => {
    for (let round = 0; round < 4; round += 1) {
      store.append({ type: 'note' }, seq, 1);
      seq += 1;
      await store.sync?.();
    }
  };
  done.length = 0;
  const calls = Promise.all(Array.from({ length: 10 }, call));
  // The first request has the first sync to itself.
  for (let ends = 0; ends < 5; ends += 1) {
    await turn();
    end();
  }
  await calls;
  expect(done).toEqual(Array(5).fill('sync later'));
  store.close();
});

test('log.broken: sync is final: further syncs and appends fail', async () => {
  const { files, done, end } = slowDisk();
  const path = newPath();
  const store = beginSqliteLog(path, disk, files);
  store.append({ type: 'one' }, 0, 1);
  const asked = store.sync?.();
  await turn();
  end(new Error('EIO'));
  await expect(asked).rejects.toMatchObject({ code: 'log.broken', reason: 'sync' });
  expect(() => store.append({ type: 'two' }, 1, 1)).toThrow(code('log.broken'));
  await expect(store.sync?.()).rejects.toMatchObject({ code: 'log.broken', reason: 'sync' });
  expect(done.filter((what) => what === 'sync later')).toHaveLength(1);
  store.close();
  expect(openSqliteLog(path, { sessionId }).records).toHaveLength(1);
});

test('closing syncs appended records, reports a failure, and releases the session anyway', async () => {
  const { files, done } = slowDisk();
  const path = newPath();
  const store = beginSqliteLog(path, disk, files);
  store.append({ type: 'one' }, 0, 1);
  done.length = 0;
  store.close();
  expect(done).toEqual(['sync', 'close']);
  await expect(store.sync?.()).rejects.toMatchObject({ code: 'session.closed' });

  const fails = {
    ...files,
    sync: () => {
      throw new Error('EIO');
    },
  };
  const failing = beginSqliteLog(path, { ...disk, sessionId: 'failing' }, fails);
  failing.append({ type: 'two' }, 0, 1);
  expect(() => failing.close()).toThrow(code('log.broken'));
  openSqliteLog(path, { sessionId: 'failing' }).store.close();
});

test('the log is not closed during a sync, but the session is released at once', async () => {
  const { files, done, end } = slowDisk();
  const path = newPath();
  const store = beginSqliteLog(path, disk, files);
  store.append({ type: 'one' }, 0, 1);
  const asked = store.sync?.();
  await turn();
  done.length = 0;
  store.close();
  expect(done).toEqual([]);
  openSqliteLog(path, { sessionId }).store.close();
  end();
  await asked;
  await turn();
  expect(done.at(-1)).toBe('close');
});

test('the names of the files and of new folders are synced', () => {
  const { files, done } = slowDisk();
  const folder = mkdtempSync(join(root, 'f-'));
  const at = folder.slice(root.length);
  const store = beginSqliteLog(join(folder, 'a', 'b', 's.db'), disk, files);
  expect(done.slice(0, 3).toSorted()).toEqual([`sync folder ${at}`, `sync folder ${at}/a`, `sync folder ${at}/a/b`]);
  store.close();
});

test('log.write_failed: open: the names cannot be synced; no session is created', () => {
  const path = newPath();
  const files: LogFiles = {
    ...nodeFiles,
    syncFolder() {
      throw new Error('EIO');
    },
  };
  expect(() => beginSqliteLog(path, disk, files)).toThrow(code('log.write_failed'));
  const store = createSqliteLog(path, { sessionId });
  store.close();
});
