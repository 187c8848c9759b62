import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPlainObject } from '@holdfast/core/internal';
import { afterAll, describe, expect, test } from 'vitest';
import { createSession } from '../../index.ts';
import { createJsonlLog, type JsonlLog, openJsonlLog, readLog } from '../../jsonl.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Place {
  readonly folder: string;
  readonly path: string;
  readonly lock: string;
  /** The owner that this process writes into a lock. */
  readonly mine: Readonly<Record<string, unknown>>;
}

async function writeLog(): Promise<Place> {
  const folder = mkdtempSync(join(root, 'f-'));
  const path = join(folder, 's.jsonl');
  const lock = `${path}.lock`;
  const session = createSession({ id: 's', store: createJsonlLog(path) });
  const mine: unknown = JSON.parse(readFileSync(lock, 'utf8'));
  await session.close();
  return { folder, path, lock, mine: isPlainObject(mine) ? mine : {} };
}

const isLocked = expect.objectContaining({
  code: 'log.locked',
  message: expect.stringMatching(/Close the session there.*only if you are sure/),
});
const ended = (): number => spawnSync(process.execPath, ['--version']).pid;
const another = '0000000000000000';

test('a log has one writer at a time and any number of readers', async () => {
  const { folder, path, lock } = await writeLog();
  const { store } = openJsonlLog(path);
  expect(() => openJsonlLog(path)).toThrow(isLocked);
  expect(() => openJsonlLog(path)).toThrow(
    expect.objectContaining({ data: expect.objectContaining({ process: process.pid, lock }) }),
  );
  expect(readLog(path).records).toHaveLength(1);
  store.close();
  openJsonlLog(path).store.close();
  expect(readdirSync(folder)).toEqual(['s.jsonl']);
});

test('a new log has a writer; an existing one is rejected with log.exists', async () => {
  const path = join(mkdtempSync(join(root, 'f-')), 's.jsonl');
  const store = createJsonlLog(path);
  expect(() => openJsonlLog(path)).toThrow(isLocked);
  expect(() => createJsonlLog(path)).toThrow(expect.objectContaining({ code: 'log.exists' }));
  store.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('a lock also prevents the creation of a file', async () => {
  const { path, lock, mine } = await writeLog();
  rmSync(path);
  writeFileSync(lock, JSON.stringify(mine));
  expect(() => createJsonlLog(path)).toThrow(isLocked);
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['a process that has ended', () => ({ pid: ended() })],
  ...(process.platform === 'linux' ? [['a number used again', () => ({ startedAt: '1' })] as const] : []),
] as const)('a lock of %s is taken over', async (_what, change) => {
  const { folder, path, lock, mine } = await writeLog();
  writeFileSync(lock, JSON.stringify({ ...mine, token: another, ...change() }));
  const { store } = openJsonlLog(path);
  expect(readFileSync(lock, 'utf8')).toContain(`"pid":${process.pid}`);
  expect(() => openJsonlLog(path)).toThrow(isLocked);
  store.close();
  expect(readdirSync(folder)).toEqual(['s.jsonl']);
});

test.each([
  ['of a running process', (mine: object) => JSON.stringify({ ...mine, token: another })],
  ['of another machine', (mine: object) => JSON.stringify({ ...mine, pid: ended(), host: 'elsewhere' })],
  ['of another container', (mine: object) => JSON.stringify({ ...mine, pid: ended(), pidSpace: 'pid:[1]' })],
  ['that says nothing', () => ''],
  ['that is not a lock', () => '{"pid":-1}'],
  ['with a token that is a path', (mine: object) => JSON.stringify({ ...mine, pid: ended(), token: '../../x' })],
])('a lock %s is respected', async (_what, content) => {
  const { folder, path, lock, mine } = await writeLog();
  const text = content(mine);
  writeFileSync(lock, text);
  expect(() => openJsonlLog(path)).toThrow(isLocked);
  expect(readFileSync(lock, 'utf8')).toBe(text);
  expect(readdirSync(folder)).toHaveLength(2);
});

test.runIf(process.platform === 'linux')('a zombie process counts as ended', async () => {
  const { path, lock, mine } = await writeLog();
  // The process that replaces the shell never reaps the shell's child.
  const shell = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec cat']);
  try {
    const [text] = await once(shell.stdout, 'data');
    const pid = Number(String(text));
    shell.stdin.write('there');
    await once(shell.stdout, 'data');
    process.kill(pid, 'SIGKILL');
    while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) {
      // The child ends within a moment.
    }
    writeFileSync(lock, JSON.stringify({ ...mine, token: another, pid, startedAt: '' }));
    openJsonlLog(path).store.close();
    expect(existsSync(lock)).toBe(false);
  } finally {
    shell.kill('SIGKILL');
  }
});

test('a takeover holds the lock; an interrupted takeover can be taken over, too', async () => {
  const { folder, path, lock, mine } = await writeLog();
  const dead = { ...mine, token: another, pid: ended() };
  const claim = `${lock}.${another}`;
  writeFileSync(lock, JSON.stringify(dead));
  writeFileSync(claim, JSON.stringify(mine));
  expect(() => openJsonlLog(path)).toThrow(isLocked);
  expect(readFileSync(lock, 'utf8')).toBe(JSON.stringify(dead));
  writeFileSync(claim, JSON.stringify({ ...dead, token: another.replaceAll('0', '1') }));
  openJsonlLog(path).store.close();
  expect(readdirSync(folder)).toEqual(['s.jsonl']);
});

test('a lock replaced by hand is not removed', async () => {
  const { path, lock, mine } = await writeLog();
  const { store } = openJsonlLog(path);
  const other = JSON.stringify({ ...mine, token: another });
  writeFileSync(lock, other);
  store.close();
  expect(readFileSync(lock, 'utf8')).toBe(other);
});

test('log.write_failed: open: the lock cannot be created', async () => {
  const { path, lock } = await writeLog();
  mkdirSync(lock);
  expect(() => openJsonlLog(path)).toThrow(
    expect.objectContaining({
      code: 'log.write_failed',
      reason: 'open',
      message: expect.stringContaining('cannot be locked'),
    }),
  );
});

describe('writers that take turns', () => {
  const note = { type: 'note' } as const;

  test('a released log is open to others, and retaken if unchanged', async () => {
    const { path, lock } = await writeLog();
    const { store } = openJsonlLog(path);
    store.release();
    expect(existsSync(lock)).toBe(false);
    expect(() => store.append(note, 1, 0)).toThrow(expect.objectContaining({ code: 'log.broken', reason: 'released' }));
    openJsonlLog(path).store.close();
    expect(store.retake()).toBe(true);
    expect(() => openJsonlLog(path)).toThrow(isLocked);
    store.append(note, 1, 0);
    store.close();
    expect(readLog(path)).toMatchObject({ records: [{ seq: 0 }, { seq: 1 }] });
    expect(readLog(path)).not.toHaveProperty('problem');
  });

  test.each<[string, (store: JsonlLog) => void]>([
    ['another record', (store) => store.append(note, 1, 0)],
    ['a snapshot', (store) => store.append({ type: 'snapshot', sessionId: 's', slices: [] }, 1, 0)],
  ])('after %s of another writer the log has to be opened again', async (_, write) => {
    const { path, lock } = await writeLog();
    const { store } = openJsonlLog(path);
    store.release();
    const other = openJsonlLog(path).store;
    expect(() => store.retake()).toThrow(isLocked);
    write(other);
    other.close();
    expect(store.retake()).toBe(false);
    expect(existsSync(lock)).toBe(false);
    store.close();
  });

  test('a log that was replaced or removed has to be opened again', async () => {
    const { path } = await writeLog();
    const { store } = openJsonlLog(path);
    store.release();
    const bytes = readFileSync(path);
    rmSync(path);
    expect(store.retake()).toBe(false);
    writeFileSync(path, bytes);
    expect(store.retake()).toBe(false);
    store.close();
  });
});
