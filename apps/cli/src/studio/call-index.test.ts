import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createSession } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { callEnd, pendingApproval } from '../testing/test-events.ts';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { writeLog } from '../testing/test-log.ts';
import { rememberWorkspace } from '../workspace/known.ts';
import { prepareLogPath } from '../workspace/session-logs.ts';
import { CallIndex } from './call-index.ts';

const plain = (entry: object) => JSON.parse(JSON.stringify(entry));
const end = (callId: string, name: string, changes: Parameters<typeof callEnd>[1] = {}, kind: 'ok' | 'denied' = 'ok') =>
  callEnd(kind, { callId, name, ...changes });
const deny = [{ policy: 'host/budget', type: 'deny' as const, reason: 'Used up.' }];
const start = (callId: string) => ({ type: 'tool-call-start', callId, name: 'wipe', input: { path: 'b' } });
const request = (callId: string) => ({ type: 'approval-request', pending: pendingApproval({ callId, name: 'wipe' }) });
const approve = (callId: string) => ({ type: 'approval-answer', callId, run: 1, turn: 1, answer: { type: 'approve' } });

const shown = (index: CallIndex, filter: Parameters<CallIndex['find']>[0] = {}): readonly string[] =>
  index
    .find(filter)
    .map(({ log, callId, name, state, decided }) => `${log.id} ${callId} ${name} ${state} ${decided}`.trim());

test('all workspaces of the machine, newest first; filters and search', async () => {
  await using folder = await createFolder();
  const other = join(folder.path, 'other');
  await mkdir(other);
  const { host } = createTestHost({ directory: folder.path });
  await rememberWorkspace(other, host);
  await writeLog(folder.path, 'one', [
    end('c1', 'read_file'),
    end('c2', 'wipe', { decisions: deny, message: 'Used up.' }, 'denied'),
  ]);
  await writeLog(other, 'two', [end('c1', 'read_file'), end('c2', 'read_file'), request('c3'), start('c4')]);
  const index = new CallIndex(host);
  await index.refresh();
  expect(shown(index)).toEqual([
    'two c4 wipe running',
    'two c3 wipe waiting',
    'two c2 read_file ok allow',
    'two c1 read_file ok allow',
    'one c2 wipe denied deny: budget',
    'one c1 read_file ok allow',
  ]);
  expect(shown(index, { tool: 'wipe', decision: 'deny' })).toEqual(['one c2 wipe denied deny: budget']);
  expect(shown(index, { decision: 'ask' })).toEqual(['two c3 wipe waiting']);
  expect(shown(index, { outcome: 'running' })).toEqual(['two c4 wipe running']);
  expect(shown(index, { text: 'USED' })).toEqual(['one c2 wipe denied deny: budget']);
  expect(shown(index, { text: 'a.txt', session: index.logs().find(({ id }) => id === 'one')?.ref })).toHaveLength(2);
  const { version } = index;
  await index.refresh();
  expect(index.version).toBe(version);
});

test('a log that grows: only the new records are read, and a call keeps its key', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', [request('c1')]);
  const { host } = createTestHost({ directory: folder.path });
  const index = new CallIndex(host);
  await index.refresh();
  const [asked] = index.find({});
  const { records, store } = openJsonlLog(path);
  store.append(plain(approve('c1')), records.length, 5);
  await index.refresh();
  expect(shown(index)).toEqual(['one c1 wipe approved']);
  store.append(plain({ ...start('c1'), run: 1, turn: 1 }), records.length + 1, 6);
  store.append(
    plain(end('c1', 'wipe', { run: 1, turn: 1, approval: { type: 'approve', by: 'anna' } })),
    records.length + 2,
    9,
  );
  // The same id again is another call.
  store.append(plain(end('c1', 'wipe', { run: 1, turn: 1 })), records.length + 3, 12);
  store.close();
  await index.refresh();
  expect(shown(index).toSorted()).toEqual(['one c1 wipe ok allow', 'one c1 wipe ok asked: approved by anna']);
  expect(index.call(asked?.key ?? -1)).toMatchObject({
    state: 'ok',
    decided: 'asked: approved by anna',
    startedAtMs: 0,
  });
});

test('a rotated log has each call once, with those before the rotation; a removed one keeps what was read', async () => {
  await using folder = await createFolder();
  const path = await prepareLogPath(folder.path, 'one');
  const { host } = createTestHost({ directory: folder.path });
  const index = new CallIndex(host);
  const session = createSession({ id: 'one', store: createJsonlLog(path, { snapshotAfterBytes: 2_000 }) });
  for (let call = 0; call < 30; call += 1) {
    session.record(plain(end(`c${call}`, 'wipe')));
    if (call === 11) await index.refresh();
  }
  await session.close();
  await index.refresh();
  expect(shown(index).toSorted()).toEqual(
    Array.from({ length: 30 }, (_, call) => `one c${call} wipe ok allow`).toSorted(),
  );
  const later = new CallIndex(host);
  await later.refresh();
  expect(shown(later)).toHaveLength(30);
  await rm(path);
  await later.refresh();
  expect(shown(later)).toHaveLength(30);
});

test('calls of child sessions, and malformed lines', async () => {
  await using folder = await createFolder();
  const child = (entry: object, sessionId = 'kid') => ({
    type: 'child-record',
    callId: 'c1',
    sessionId,
    childSeq: 1,
    entry,
  });
  await writeLog(folder.path, 'one', [
    child(plain(end('c1', 'inner'))),
    child(child(plain(end('c9', 'innermost')), 'grandkid')),
    { type: 'tool-call-end', callId: 7 },
    { type: 'tool-call-end', callId: 'x', outcome: 'none' },
    { type: 'approval-request', pending: null },
    { type: 'tool-call-end', callId: 'odd', decisions: [1], outcome: {}, approval: { by: 1 } },
  ]);
  const index = new CallIndex(createTestHost({ directory: folder.path }).host);
  await index.refresh();
  expect(index.find({}).map(({ child: place, name, callId }) => `${place} ${name} ${callId}`)).toEqual([
    '  odd',
    'grandkid innermost c9',
    'kid inner c1',
  ]);
});
