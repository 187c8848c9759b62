import type { LogEntry, LogRecord, SessionStore } from '@holdfast/session';
import {
  appendAll,
  keeps,
  largeNote,
  makeNotes,
  mustHave,
  type StoreCheck,
  same,
  sameRecords,
  untilDue,
} from './check.ts';

/** That an open store gives what it holds. */
export const readingChecks: readonly StoreCheck[] = [
  {
    name: 'it is read from any record on, before and after more is appended',
    needs: ['read'],
    run: async (test) => {
      const { store } = test;
      const records = [...appendAll(store, makeNotes(60), 0)];
      const check = (): void => {
        sameRecords('what is read', read(store), records);
        for (const from of [0, 1, 2, 31, records.length - 1, records.length, records.length + 40]) {
          sameRecords(`what is read from record ${from} on`, read(store, from), records.slice(from));
        }
      };
      check();
      records.push(...appendAll(store, [{ type: 'note', text: 'x'.repeat(300_000) }, ...makeNotes(40)], 60));
      check();
      await keeps(test, makeNotes(2), records);
    },
  },
  {
    name: 'while it is read it is appended to: each record is given once, in order, and all that were there before',
    needs: ['read'],
    run: async (test) => {
      const { store } = test;
      const records = [...appendAll(store, makeNotes(20), 0)];
      const seen: LogRecord[] = [];
      for (const record of iterate(store, 3)) {
        seen.push(record);
        if (records.length < 60) records.push(...appendAll(store, makeNotes(2, records.length), records.length));
      }
      if (seen.length < 17) same('the number of records that were read', seen.length, 17);
      sameRecords('what was read', seen, records.slice(3, 3 + seen.length));
      await keeps(test, makeNotes(2, 60), records);
    },
  },
  {
    name: 'it is read by several at once, and by some who never come to the end',
    needs: ['read'],
    run: async (test) => {
      const { store } = test;
      const records = [...appendAll(store, makeNotes(30), 0)];
      const left = iterate(store, 2)[Symbol.iterator]();
      same('the first record of one reader', left.next().value, records[2]);
      for (const record of iterate(store)) {
        if (record.seq === 10) break;
        sameRecords('what another one reads', read(store, record.seq), records.slice(record.seq));
      }
      same('the next record of the first reader', left.next().value, records[3]);
      records.push(...appendAll(store, makeNotes(30, 30), 30));
      await keeps(test, makeNotes(1, 60), records);
    },
  },
  {
    name: 'once closed it gives all that it held, or refuses to be read',
    needs: ['read'],
    run: async (test) => {
      const records = appendAll(test.store, makeNotes(5), 0);
      test.store.close();
      let found: readonly LogRecord[];
      try {
        found = read(test.store);
      } catch {
        return;
      }
      sameRecords('what is read of a closed store', found, records);
    },
  },
  {
    name: 'what was there before it was opened again is read as well',
    needs: ['reopen', 'read'],
    run: async (test) => {
      const before = appendAll(test.store, makeNotes(10), 0);
      test.store.close();
      const { store } = await test.reopen();
      const records = [...before, ...appendAll(store, makeNotes(10, 10), 10)];
      for (const from of [0, 5, 10, 15]) {
        sameRecords(`what is read from record ${from} on`, read(store, from), records.slice(from));
      }
      store.close();
    },
  },
];

function read(store: SessionStore, fromSeq?: number): readonly LogRecord[] {
  return [...iterate(store, fromSeq)];
}

function iterate(store: SessionStore, fromSeq?: number): Iterable<LogRecord> {
  mustHave('read', store.read);
  return store.read?.(fromSeq) ?? [];
}

/** That a log is opened without reading all of it, and that this costs little. */
export const snapshotChecks: readonly StoreCheck[] = [
  {
    name: 'a snapshot is due after a while, not after one, and the later the larger the last one was',
    needs: ['snapshots'],
    run: async (test) => {
      const { store } = test;
      let seq = 0;
      const append = (entry: LogEntry): void => {
        store.append(entry, seq, 1_000 + seq);
        seq += 1;
      };
      same('`snapshotDue` of an empty store', due(store), false);
      const large = { ...snapshot, slices: ['x'.repeat(1_048_576)] };
      for (const entry of [snapshot, large]) {
        untilDue(() => {
          append(largeNote);
          return due(store);
        });
        append(entry);
        same('`snapshotDue` after a snapshot', due(store), false);
      }
      for (let count = 0; count < 15; count += 1) append(largeNote);
      same('`snapshotDue` as long as less was appended than the last snapshot has', due(store), false);
      untilDue(() => {
        append(largeNote);
        return due(store);
      });
      store.close();
    },
  },
  {
    name: 'a log is opened from its last snapshot on, and holds all that is before it',
    needs: ['reopen', 'snapshots'],
    run: async (test) => {
      const rounds = [...makeNotes(5), snapshot, ...makeNotes(3, 6), snapshot, ...makeNotes(2, 10)];
      const records: LogRecord[] = [...appendAll(test.store, rounds, 0)];
      test.store.close();
      let last = 9;
      for (const more of [makeNotes(2, 12), [snapshot], []]) {
        const { records: found, store } = await test.reopen();
        sameRecords('what it is opened with', found, records.slice(last));
        if (store.read !== undefined) {
          for (const from of [0, last - 1, last, last + 1]) {
            sameRecords(`what is read from record ${from} on`, [...store.read(from)], records.slice(from));
          }
        }
        if (more[0] === snapshot) last = records.length;
        records.push(...appendAll(store, more, records.length));
        store.close();
      }
      sameRecords('what it has kept', await test.read(), records);
    },
  },
];

const snapshot: LogEntry = { type: 'snapshot', sessionId: 'conformance', slices: [], open: {} };

function due(store: SessionStore): boolean {
  return mustHave('snapshotDue', store.snapshotDue);
}
