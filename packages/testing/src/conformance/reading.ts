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

/** Checks reading from an open store. */
export const readingChecks: readonly StoreCheck[] = [
  {
    name: 'it is readable from any record, before and after appends',
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
    name: 'appends during a read: each record is returned once, in order, including all earlier ones',
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
    name: 'concurrent readers work, even if some never finish',
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
    name: 'once closed it returns all its records, or rejects reads',
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
    name: 'records from before a reopen are readable',
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

/** Checks that a log opens without reading all of it, at a low cost. */
export const snapshotChecks: readonly StoreCheck[] = [
  {
    name: 'a snapshot is due after enough records, and later after a larger snapshot',
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
    name: 'a log opens from its last snapshot, and keeps earlier records',
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
