import { expect, test } from 'vitest';
import { type LogRecord, type MemoryStore, memoryStore, openSession, type SessionLogs } from '../index.ts';

/** A log that machines share; `snapshots`: one after every record. */
function sharedLog(snapshots = false) {
  let records: readonly LogRecord[] = [];
  return (host: string | undefined): SessionLogs => ({
    open() {
      const store: MemoryStore = memoryStore(records);
      const from = snapshots ? records.findLastIndex(({ type }) => type === 'snapshot') : 0;
      return {
        records: records.slice(Math.max(0, from)),
        store: {
          append: (entry, seq, atMs) => {
            store.append(entry, seq, atMs);
            records = store.records;
          },
          close: () => undefined,
          ...(snapshots && { snapshotDue: true }),
          ...(host !== undefined && { host }),
        },
      };
    },
  });
}

const staged = { type: 'resources-staged', callId: 'c', mark: 'm', host: 'a', resources: ['files', 'notes'] };
const end = { type: 'tool-call-end', callId: 'c', events: [], mark: 'm' };
const settled = (...resources: string[]): object => ({ type: 'resources-settled', mark: 'm', resources });
const both = { code: 'resource.elsewhere', data: { host: 'a', resources: ['files', 'notes'] } };

test.each([
  { what: 'prepared changes', entries: [staged], error: undefined },
  { what: 'counted changes', entries: [staged, end], error: both },
  { what: 'changes of a call that failed', entries: [staged, { ...end, mark: undefined }], error: undefined },
  { what: 'changes of another call that failed', entries: [staged, { ...end, callId: 'd' }], error: both },
  { what: 'applied changes', entries: [staged, end, settled('files', 'notes')], error: undefined },
  {
    what: 'changes of which one resource is settled',
    entries: [staged, end, settled('files')],
    error: { code: 'resource.elsewhere', data: { host: 'a', here: 'b', resources: ['notes'] } },
  },
  { what: 'abandoned changes', entries: [staged, end, { type: 'resources-abandoned', host: 'a' }], error: undefined },
  {
    what: 'changes although those of another machine are abandoned',
    entries: [staged, end, { type: 'resources-abandoned', host: 'c' }],
    error: both,
  },
])('$what of a machine, opened on another', async ({ entries, error }) => {
  for (const snapshots of [false, true]) {
    const on = sharedLog(snapshots);
    const first = await openSession(on('a'), { id: 's' });
    for (const entry of entries) first.record(JSON.parse(JSON.stringify(entry)));
    await first.close();
    const opened = openSession(on('b'), { id: 's' });
    if (error === undefined) await (await opened).close();
    else await expect(opened).rejects.toMatchObject(error);
    // Its own machine may always continue.
    await (await openSession(on('a'), { id: 's' })).close();
  }
});

test('resource.elsewhere: also on a machine without a name; until a person abandons the machine', async () => {
  const on = sharedLog();
  const first = await openSession(on('a'), { id: 's' });
  for (const entry of [staged, end]) first.record(entry);
  await first.close();
  await expect(openSession(on(undefined), { id: 's' })).rejects.toMatchObject({ ...both, data: { here: null } });
  await expect(openSession(on('b'), { id: 's', abandon: 'c' })).rejects.toMatchObject(both);
  const second = await openSession(on('b'), { id: 's', abandon: 'a' });
  expect(second.openWork().staged).toBeUndefined();
  await second.close();
  await (await openSession(on('c'), { id: 's' })).close();
});
