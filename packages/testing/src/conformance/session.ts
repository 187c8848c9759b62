import { append, defineSlice, type Json, type Slice, upsert } from '@holdfast/core';
import { createSession, replay, type Session } from '@holdfast/session';
import { largeNote, mustThrow, type StoreCheck, same, untilDue } from './check.ts';

/** Checks that a session's state is restored. */
export const sessionChecks: readonly StoreCheck[] = [
  {
    name: 'a session rebuilt from the log equals the original',
    run: async (test) => {
      const session = createSession({ id: 'conformance', slices, store: test.store });
      work(session);
      const before = session.export();
      await session.close();
      const records = await test.read();
      same(
        'the types of the records',
        records.map(({ type }) => type).filter((type) => type !== 'snapshot'),
        ['session-start', 'event', 'tool-call-end', 'tool-call-end', 'note'],
      );
      same('the rebuilt state', replay(records, { slices }).export(), before);
    },
  },
  {
    name: 'a closed session writes nothing, however often it was closed',
    run: async (test) => {
      const session = createSession({ id: 'conformance', slices, store: test.store });
      await session.close();
      await session.close();
      mustThrow('a write after `close`', () => session.record({ type: 'note' }));
      same('the number of records', (await test.read()).length, 1);
    },
  },
  {
    name: 'a log is resumed repeatedly',
    needs: ['reopen'],
    run: async (test) => {
      let session = createSession({ id: 'conformance', slices, store: test.store });
      for (let round = 0; round < 3; round += 1) {
        work(session);
        const before = session.export();
        await session.close();
        const { records, store } = await test.reopen();
        session = replay(records, { slices, store });
        same(`the state after round ${round}`, session.export(), before);
      }
      work(session);
      const before = session.export();
      await session.close();
      const { records, store } = await test.reopen();
      store.close();
      const first = records[0]?.seq ?? 0;
      same(
        'the numbers of the records',
        records.map(({ seq }) => seq),
        [...records.keys()].map((index) => first + index),
      );
      same('the state at the end', replay(records, { slices }).export(), before);
    },
  },
  {
    name: 'a session writes due snapshots, and is restored from the last one',
    needs: ['reopen', 'snapshots'],
    run: async (test) => {
      let session = createSession({ id: 'conformance', slices, store: test.store });
      for (let round = 0; round < 2; round += 1) {
        work(session);
        writeUntilSnapshot(session);
        work(session);
        const before = session.export();
        await session.close();
        const { records, store } = await test.reopen();
        session = replay(records, { slices, store });
        same(`the state after round ${round}`, session.export(), before);
      }
      const before = session.export();
      await session.close();
      same('the state by all records', replay(await test.read(), { slices }).export(), before);
    },
  },
];

const lines: Slice = defineSlice<string>({
  id: 'conformance/lines',
  kind: 'list',
  reducers: { 'line-added': (_state, payload) => append(payload) },
});
const names: Slice = defineSlice<Json>({
  id: 'conformance/names',
  kind: 'keyed',
  reducers: { 'name-set': (_state, payload) => upsert(String(payload), payload) },
});
const slices: readonly Slice[] = [lines, names];

function writeUntilSnapshot(session: Session): void {
  let snapshots = 0;
  const stop = session.subscribe(({ type }) => {
    if (type === 'snapshot') snapshots += 1;
  });
  untilDue(() => {
    session.record(largeNote);
    return snapshots > 0;
  });
  stop();
}

/** An event, a nested commit, discarded changes, and a record that changes no state. */
function work(session: Session): void {
  session.dispatch({ type: 'line-added', payload: 'first' });
  const outer = session.begin();
  outer.dispatch({ type: 'name-set', payload: '__proto__' });
  const inner = outer.begin();
  inner.dispatch({ type: 'line-added', payload: 'größe \ud800' });
  inner.commit({ type: 'tool-call-end', events: inner.events.map((event) => ({ ...event })) });
  outer.commit({ type: 'tool-call-end', events: outer.events.map((event) => ({ ...event })) });
  const dropped = session.begin();
  dropped.dispatch({ type: 'line-added', payload: 'never' });
  dropped.discard();
  session.record({ type: 'note', value: null });
}
