import { HoldfastError } from '@holdfast/core';
import type { SessionStore } from '@holdfast/session';
import { appendAll, keeps, makeNotes, mustHave, mustReject, mustThrow, type StoreCheck, sameRecords } from './check.ts';

/** Checks who may write, until when, and what reaches the disk. */
export const writingChecks: readonly StoreCheck[] = [
  {
    name: 'a closed store rejects records, however often it was closed',
    needs: ['text'],
    run: async (test) => {
      const records = appendAll(test.store, makeNotes(3), 0);
      test.store.close();
      test.store.close();
      mustThrow('a record after `close`', () => test.store.append({ type: 'note' }, 3, 1_003));
      test.store.close();
      sameRecords('what it has kept', await test.read(), records);
    },
  },
  {
    name: 'a resumed log is one log',
    needs: ['reopen'],
    run: async (test) => {
      const records = [...appendAll(test.store, makeNotes(3), 0)];
      test.store.close();
      for (let round = 0; round < 4; round += 1) {
        const { records: found, store } = await test.reopen();
        sameRecords('what it is opened with', found, records);
        mustThrow('the number of a record that is there', () =>
          store.append({ type: 'note' }, records.length - 1, 1_000),
        );
        mustThrow('a number that leaves one out', () => store.append({ type: 'note' }, records.length + 1, 1_000));
        // One round appends nothing.
        records.push(...appendAll(store, makeNotes(round, records.length), records.length));
        store.close();
      }
      sameRecords('what it has kept', await test.read(), records);
    },
  },
  {
    name: 'an open log cannot be opened by a second writer',
    needs: ['reopen', 'text'],
    run: async (test) => {
      const records = appendAll(test.store, makeNotes(1), 0);
      await mustReject('opening a log that is open', async () => {
        const { store } = await test.reopen();
        store.close();
      });
      await keeps(test, makeNotes(1, 1), records);
    },
  },
  {
    name: 'a closed store does not write into a log that was reopened elsewhere',
    needs: ['reopen', 'text'],
    run: async (test) => {
      const records = [...appendAll(test.store, makeNotes(2), 0)];
      test.store.close();
      const { store } = await test.reopen();
      mustThrow('a record of the closed store', () => test.store.append({ type: 'note' }, 2, 1_002));
      test.store.close();
      records.push(...appendAll(store, makeNotes(2, 2), 2));
      mustThrow('a record of the closed store', () => test.store.append({ type: 'note' }, 4, 1_004));
      store.close();
      sameRecords('what it has kept', await test.read(), records);
    },
  },
  {
    name: 'appended records are synced to the disk, for concurrent callers',
    needs: ['sync'],
    run: async (test) => {
      const { store } = test;
      await sync(store);
      const callers = Array.from({ length: 20 }, async (_, caller) => {
        appendAll(store, makeNotes(1, caller), caller);
        await sync(store);
      });
      await Promise.all(callers);
      await sync(store);
      const records = Array.from({ length: 20 }, (_, index) => ({
        seq: index,
        atMs: 1_000 + index,
        type: 'note',
        index,
      }));
      await keeps(test, makeNotes(2, 20), records);
    },
  },
  {
    name: 'a closed store syncs no more, and leaves no caller waiting',
    needs: ['sync'],
    run: async (test) => {
      const records = appendAll(test.store, makeNotes(3), 0);
      const waiting = settle(sync(test.store));
      test.store.close();
      await waiting;
      await mustReject('a sync after `close`', () => sync(test.store));
      sameRecords('what it has kept', await test.read(), records);
    },
  },
];

async function settle(promise: Promise<void>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    // A waiting sync may reject because the store was closed, but must not hang.
    if (error instanceof HoldfastError && error.code === 'conformance.failed') throw error;
  }
}

/** Fails if it does not settle, which a test runner would only report as a timeout. */
async function sync(store: SessionStore): Promise<void> {
  mustHave('sync', store.sync);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new HoldfastError('conformance.failed', `Expected \`sync\` to end within ${syncMs} ms.`);
    timer = setTimeout(() => reject(error), syncMs);
  });
  try {
    await Promise.race([store.sync?.(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const syncMs = 10_000;
