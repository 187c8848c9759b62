import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, defineSlice, type Json, replace, type SessionEvent, type Slice } from '@holdfast/core';
import { planSlice } from '@holdfast/planning';
import { visibilitySlice } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { prepareLogPath } from '../../workspace/session-logs.ts';

async function verify(directory: string, ...parameters: readonly string[]) {
  const { host, stdout, stderr } = createTestHost({ directory });
  const exitCode = await runProgram(['verify', ...parameters], host, '0');
  return { exitCode, lines: stdout().trimEnd().split('\n'), text: stdout(), errors: stderr() };
}

const entries = Array.from({ length: 4 }, (_, n) => ({ type: 'note', n }));

test('an intact log', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  const { exitCode, lines } = await verify(folder.path);
  expect(exitCode).toBe(0);
  expect(lines[0]).toMatch(/^Session one {2}/);
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^5 records, hash chain intact, head [0-9a-f]{64}$/)]);
});

test.each([
  {
    what: 'a line edited',
    damage: (lines: string[]) => lines.with(2, lines[2]?.replace('"n":1', '"n":9') ?? ''),
    says: 'log.damaged: chain',
  },
  { what: 'a line left out', damage: (lines: string[]) => lines.toSpliced(2, 1), says: 'log.damaged: sequence' },
  { what: 'the last line cut', damage: (lines: string[]) => [...lines.slice(0, -2), '{"seq":4'], says: 'torn' },
])('$what: exit code 1, and where', async ({ damage, says }) => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', entries);
  await writeFile(path, damage((await readFile(path, 'utf8')).split('\n')).join('\n'));
  const { exitCode, text } = await verify(folder.path);
  expect(exitCode).toBe(1);
  expect(text).toContain(says);
  const json = await verify(folder.path, '--json');
  expect([json.exitCode, JSON.parse(json.text).whole]).toEqual([1, false]);
});

test('a noted head of the last record, of an earlier one, and of none', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', entries);
  const lines = (await readFile(path, 'utf8')).split('\n');
  const earlier = JSON.parse(lines[3] ?? '').prev as string;
  const { head } = JSON.parse((await verify(folder.path, '--json')).text);
  expect((await verify(folder.path, '--head', head)).lines.at(-1)).toBe('The head matches record 4, the last one.');
  expect((await verify(folder.path, '--head', earlier.toUpperCase())).lines.at(-1)).toBe(
    'The head matches record 2, followed by 2 more records.',
  );
  // Cut at a record boundary: the chain is intact, and only the head reveals it.
  await writeFile(path, `${lines.slice(0, 4).join('\n')}\n`);
  expect((await verify(folder.path)).exitCode).toBe(0);
  const cut = await verify(folder.path, '--head', head);
  expect(cut.exitCode).toBe(1);
  expect(cut.text).toContain('its tail was cut off or rewritten');
  expect(JSON.parse((await verify(folder.path, '--head', head, '--json')).text)).toMatchObject({
    whole: false,
    noted: { head, seq: null },
  });
});

test('an invalid head is a usage error', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', []);
  const { exitCode, errors } = await verify(folder.path, '--head', 'abc');
  expect(exitCode).toBe(2);
  expect(errors).toContain('usage.invalid: head_invalid');
});

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});
const policy = defineSlice<Json>({ id: 'policy', kind: 'value', initial: 0, reducers: {} });

/** Writes a log of several files. Returns its path. */
async function writeSnapshots(workspace: string, slices: readonly Slice[] = []): Promise<string> {
  const path = await prepareLogPath(workspace, 'one');
  const session = createSession({ id: 'one', slices, store: createJsonlLog(path, { snapshotAfterBytes: 1 }) });
  for (let number = 0; number < 20; number += 1) {
    const transaction = session.begin();
    transaction.apply(policy, [replace(number)]);
    if (slices.length > 0) transaction.dispatch({ type: 'noted', payload: 'x' });
    const events = transaction.events.map((event) => ({ ...event }));
    transaction.commit({ type: 'event', events, changes: transaction.changes });
  }
  await session.close();
  return path;
}

test('snapshots are compared with the records before them, in all files of the log', async () => {
  await using folder = await createFolder();
  await writeSnapshots(folder.path);
  const { exitCode, lines } = await verify(folder.path);
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^2\d records, hash chain intact, head [0-9a-f]{64}$/),
    expect.stringMatching(/^\d snapshots match the records before$/),
  ]);
  expect(exitCode).toBe(0);
  const { snapshots, whole } = JSON.parse((await verify(folder.path, '--json')).text);
  expect([snapshots, whole]).toEqual([{ compared: expect.any(Number), unchecked: [] }, true]);
});

test('a head noted before the log was rotated is found', async () => {
  await using folder = await createFolder();
  const path = await writeSnapshots(folder.path);
  const first = (await readFile(path, 'utf8')).split('\n')[0] ?? '';
  const { prev, seq } = JSON.parse(first);
  expect((await verify(folder.path, '--head', prev)).lines.at(-1)).toContain(`matches record ${seq - 1},`);
});

test('slices with unknown reducers are named', async () => {
  await using folder = await createFolder();
  await writeSnapshots(folder.path, [notes]);
  const { exitCode, lines } = await verify(folder.path);
  expect(lines.at(-1)).toBe('Not compared, because their reducers are not part of this program: `notes`');
  expect(exitCode).toBe(0);
});

test('opened sections and plans are compared, too', async () => {
  await using folder = await createFolder();
  const path = await prepareLogPath(folder.path, 'known');
  const shown = ['a', 'b', 'c', 'd'].map((key) => sectionsShown(key));
  const session = createSession({
    id: 'known',
    slices: [planSlice, visibilitySlice],
    store: createJsonlLog(path, { snapshotAfterBytes: 1 }),
  });
  for (const event of shown) session.dispatch(event);
  await session.close();
  const { exitCode, lines } = await verify(folder.path);
  expect(lines.at(-1)).toMatch(/^\d+ snapshots? match(?:es)? the records before$/);
  expect(exitCode).toBe(0);
});

function sectionsShown(key: string): SessionEvent {
  return { type: 'sections-shown', payload: { prompt: 'tests/known', keys: [key], visibility: 'full' } };
}

test('log.damaged: snapshot: a snapshot that was modified together with the hashes after it', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [
    { type: 'note' },
    { type: 'snapshot', sessionId: 'one', slices: [], open: { runs: [{ run: 1 }], calls: [] } },
  ]);
  const { exitCode, lines } = await verify(folder.path);
  expect(lines.at(-1)).toMatch(
    /^The snapshot 2 differs from the records before it: .*the open work differs.*\(log\.damaged: snapshot\)$/,
  );
  expect(exitCode).toBe(1);
  const { snapshots, whole } = JSON.parse((await verify(folder.path, '--json')).text);
  expect([snapshots.problem, whole]).toEqual([
    expect.objectContaining({ code: 'log.damaged', reason: 'snapshot', seq: 2 }),
    false,
  ]);
});

test('snapshots of a log that cannot be replayed are not compared', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [
    { type: 'restore', toSeq: 9 },
    { type: 'snapshot', slices: [] },
  ]);
  const { exitCode, lines } = await verify(folder.path);
  expect(lines.at(-1)).toContain('(replay.failed: record)');
  expect(exitCode).toBe(1);
});

test('a missing or modified older file is named', async () => {
  await using folder = await createFolder();
  const path = await writeSnapshots(folder.path);
  const toSeq = (name: string): number => Number(name.split('-').at(-1));
  const older = (await readdir(join(path, '..')))
    .filter((name) => name.includes('.before-'))
    .sort((one, other) => toSeq(one) - toSeq(other));
  expect(older.length).toBeGreaterThan(2);
  const [first = '', second = '', third = ''] = older;
  await writeFile(join(path, '..', first), '');
  const changed = await verify(folder.path);
  expect([changed.exitCode, changed.text]).toEqual([
    1,
    expect.stringContaining('The log is broken at record 0 (byte 0'),
  ]);
  // The position is that of the next existing record.
  await rm(join(path, '..', second));
  const missing = await verify(folder.path);
  expect([missing.exitCode, missing.text]).toEqual([1, expect.stringContaining(`(byte 0 of ${third})`)]);
});
