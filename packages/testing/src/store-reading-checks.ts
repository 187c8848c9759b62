import type { LogRecord, SessionStore } from '@holdfast/session';
import { appendAll, keeps, makeNotes, mustHave, type StoreCheck, same, sameRecords } from './store-check.ts';

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
