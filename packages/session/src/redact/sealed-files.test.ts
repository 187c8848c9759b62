import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createSession, memoryStore, replay, type Session } from '../index.ts';
import { openSealed, sealContent } from '../live/sealed.ts';
import { createRedactor, sealedFiles } from '../redact.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-sealed-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = (): string => join(mkdtempSync(join(root, 'v-')), 'sealed');
const key = 'a key known only to the user';
const secret = 'open sesame, 4711';

test('sealed content is readable only with the same key, name and binding', () => {
  const path = folder();
  const vault = sealedFiles(path, { key });
  vault.put('/c', 'bound', secret);
  const [file = ''] = readdirSync(path);
  expect([statSync(path).mode & 0o777, statSync(join(path, file)).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readFileSync(join(path, file), 'utf8')).not.toContain(secret);
  const again = sealedFiles(path, { key });
  expect([again.names(), again.get('/c', 'bound')]).toEqual([['/c'], secret]);
  expect(again.get('/c', 'other')).toBeUndefined();
  expect(again.get('/d', 'bound')).toBeUndefined();
  expect(sealedFiles(path, { key: 'the key of another user' }).get('/c', 'bound')).toBeUndefined();
});

test('equal texts are sealed differently, and a changed file is rejected', () => {
  const path = folder();
  const vault = sealedFiles(path, { key });
  vault.put('/a', 'bound', secret);
  vault.put('/b', 'bound', secret);
  const [first = '', second = ''] = readdirSync(path).map((file) => join(path, file));
  const sealed = readFileSync(first, 'utf8').split('\n')[1] ?? '';
  expect(readFileSync(second, 'utf8')).not.toContain(sealed);
  const bytes = Buffer.from(sealed, 'base64');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    for (const file of [first, second]) writeFileSync(file, `"/x"\n${changed.toString('base64')}\n`);
    expect([vault.get('/a', 'bound'), vault.get('/b', 'bound')]).toEqual([undefined, undefined]);
  }
  for (const file of [first, second]) writeFileSync(file, `"/x"\n${bytes.subarray(0, 20).toString('base64')}\n`);
  expect(vault.get('/a', 'bound')).toBeUndefined();
});

test('deleting the last file removes the folder, and a partial file is removed', () => {
  const path = folder();
  const vault = sealedFiles(path, { key });
  vault.put('/a', 'bound', secret);
  writeFileSync(join(path, 'b'.repeat(64)), '"/b');
  const again = sealedFiles(path, { key });
  expect(again.names()).toEqual(['/a']);
  again.delete('/none');
  again.delete('/a');
  expect(existsSync(path)).toBe(false);
});

test('a link in place of the folder is neither read, emptied nor written', () => {
  const other = mkdtempSync(join(root, 'other-'));
  const name = 'b'.repeat(64);
  writeFileSync(join(other, name), 'of another use');
  const path = folder();
  symlinkSync(other, path);
  const vault = sealedFiles(path, { key });
  expect(vault.names()).toEqual([]);
  expect(() => vault.put('/a', 'bound', secret)).toThrow(expect.objectContaining({ code: 'log.write_failed' }));
  expect(readdirSync(other)).toEqual([name]);
});

test('log.write_failed, options.invalid', () => {
  const path = folder();
  writeFileSync(path, 'a file');
  expect(() => sealedFiles(path, { key }).put('/a', 'bound', secret)).toThrow(
    expect.objectContaining({ code: 'log.write_failed' }),
  );
  expect(() => sealedFiles(path, { key: 'too short' })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

interface World {
  readonly session: Session;
  readonly path: string;
  readonly store: ReturnType<typeof memoryStore>;
  reopen(id?: string): Session;
}

function setUp(): World {
  const path = folder();
  const store = memoryStore();
  const options = { redactor: createRedactor({ key }) };
  const session = createSession({ id: 's', store, ...options, vault: sealedFiles(path, { key }) });
  return {
    session,
    path,
    store,
    reopen: () =>
      replay(store.records, { store, redactor: createRedactor({ key }), vault: sealedFiles(path, { key }) }),
  };
}

const content = { name: 'open', arguments: { password: secret } };
const pending = { callId: 'c', name: 'open', input: null, digest: 'd' };

test('content without a secret is not kept', () => {
  const { session, path } = setUp();
  sealContent(session, { callId: 'c' }, { name: 'open', arguments: {} });
  expect(existsSync(path)).toBe(false);
  createSession({ vault: sealedFiles(path, { key }) }).record({ type: 'note' });
  sealContent(createSession({ vault: sealedFiles(path, { key }) }), { callId: 'c' }, content);
  expect(existsSync(path)).toBe(false);
});

test('a call of another process is opened, and its secrets are masked again', () => {
  const { session, reopen } = setUp();
  const text = `{ "a": "x", "password": ${JSON.stringify(secret)}, "b": 1 }`;
  sealContent(session, { callId: 'c' }, { name: 'open', arguments: text, note: secret });
  session.record({ type: 'approval-request', pending });
  const masked = session.redactor?.redact({ name: 'open', arguments: text, note: secret }) ?? null;
  const other = reopen();
  expect(openSealed(other, { callId: 'c' }, masked)).toEqual({ name: 'open', arguments: text, note: secret });
  expect(other.redactor?.redact(`It said ${secret}.`)).not.toContain(secret);
});

test('content of another session, call, tool or argument is not opened', () => {
  const { session, store, path } = setUp();
  sealContent(session, { callId: 'c' }, content);
  session.record({ type: 'approval-request', pending });
  const masked = session.redactor?.redact(content) as typeof content;
  expect(openSealed(session, { callId: 'c' }, masked)).toEqual(content);
  expect(openSealed(session, { callId: 'c' }, { ...masked, name: 'close' })).toBeUndefined();
  expect(openSealed(session, { callId: 'c' }, { ...masked, arguments: { password: 'x' } })).toBeUndefined();
  // Moved to another call's file.
  const files = readdirSync(path).map((file) => join(path, file));
  sealContent(session, { run: 1, turn: 1, callId: 'c' }, content);
  const moved = readdirSync(path)
    .map((file) => join(path, file))
    .find((file) => !files.includes(file));
  writeFileSync(moved ?? '', readFileSync(files[0] ?? ''));
  expect(openSealed(session, { run: 1, turn: 1, callId: 'c' }, masked)).toBeUndefined();
  const [start, ...rest] = store.records;
  const other = replay([{ ...start, sessionId: 't' } as (typeof store.records)[number], ...rest], {
    redactor: createRedactor({ key }),
    vault: sealedFiles(path, { key }),
  });
  expect(openSealed(other, { callId: 'c' }, masked)).toBeUndefined();
});

test.each([
  { what: 'its end', end: { type: 'tool-call-end', callId: 'c', name: 'open', outcome: {} } },
  { what: 'the end of its run', end: { type: 'run-end', run: 1, status: 'completed' }, place: { run: 1, turn: 1 } },
  { what: 'the end of its plan', end: { type: 'plan-end', plan: 1, status: 'failed' }, place: { plan: 1 } },
])('is removed by $what, at once and on reopening the log', ({ end, place }) => {
  for (const crash of [false, true]) {
    const { session, path, reopen, store } = setUp();
    session.record({ type: 'run-start', run: 1 });
    session.record({ type: 'plan-start', plan: 1, digest: '' });
    const at = place === undefined ? { callId: 'c' } : 'plan' in place ? place : { ...place, callId: 'c' };
    sealContent(session, at, content);
    if (place === undefined) session.record({ type: 'approval-request', pending });
    // The end of another call removes nothing.
    session.record({ type: 'tool-call-end', callId: 'd', name: 'open', outcome: {} });
    expect(readdirSync(path)).toHaveLength(1);
    reopen();
    expect(readdirSync(path)).toHaveLength(1);
    if (crash) store.append(end, store.records.length, 1);
    else session.record(end);
    if (crash) reopen();
    expect(existsSync(path)).toBe(false);
  }
});

test('a run keeps the content of its open calls, and a direct call is not affected by an earlier one with its id', () => {
  const { session, path, reopen, store } = setUp();
  session.record({ type: 'run-start', run: 1 });
  for (const callId of ['a', 'b']) sealContent(session, { run: 1, turn: 1, callId }, content);
  store.append(
    { type: 'tool-call-end', run: 1, turn: 1, callId: 'a', name: 'open', outcome: {} },
    store.records.length,
    1,
  );
  store.append({ type: 'run-end', run: 1, status: 'suspended' }, store.records.length, 1);
  store.append({ type: 'tool-call-end', callId: 'c', name: 'open', outcome: {} }, store.records.length, 1);
  sealContent(session, { callId: 'c' }, content);
  store.append({ type: 'approval-request', pending }, store.records.length, 1);
  expect(readdirSync(path)).toHaveLength(3);
  expect(reopen().vault?.names()).toEqual(expect.arrayContaining(['1.1/b', '/c']));
  expect(readdirSync(path)).toHaveLength(2);
});
