import type { LogEntry, LogRecord, SessionStore } from '@holdfast/session';
import {
  appendAll,
  largeNote,
  makeNotes,
  mustHave,
  type StoreCheck,
  same,
  sameRecords,
  untilDue,
} from './store-check.ts';

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
