import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, inject, test } from 'vitest';
import { listSqliteSessions, openSqliteLog, readSqliteLog } from '../../sqlite.ts';
import { newWriter } from './writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const long = inject('long');

// Creates or resumes a session, and prints the number of every acknowledged record.
const writer = `
  import { writeSync } from 'node:fs';
  import { openSqliteLog, createSqliteLog } from ${JSON.stringify(new URL('../../sqlite.ts', import.meta.url).href)};
  const [path, sessionId, begins, count, characters, snapshotEvery] = process.argv.slice(1);
  const { records, store } = begins === 'begin'
    ? { records: [], store: createSqliteLog(path, { sessionId }) }
    : openSqliteLog(path, { sessionId });
  const text = 'x'.repeat(Number(characters));
  const first = (records.at(-1)?.seq ?? -1) + 1;
  for (let seq = first; seq < first + Number(count); seq += 1) {
    store.append({ type: seq % Number(snapshotEvery) === 0 ? 'snapshot' : 'note', text }, seq, 1);
    writeSync(1, seq + '\\n');
  }
  store.close();
`;

interface Work {
  readonly path: string;
  readonly sessionId: string;
  readonly begins: boolean;
  readonly count: number;
  readonly characters: number;
  /** Records per snapshot, from which the log is opened. Default: none. */
  readonly snapshotEvery?: number;
  /** Kills the process after this output. */
  readonly killAfterBytes?: number;
}

function runProcess(program: string, parameters: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [
    '--conditions=holdfast-source',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    program,
    ...parameters,
  ]);
}

/** Runs a writer until it ends; returns the number of the last acknowledged record. */
async function write(
  work: Work,
): Promise<{ readonly acknowledged: number; readonly signal: unknown; readonly errors: string }> {
  const { path, sessionId, begins, count, characters, snapshotEvery = 0 } = work;
  const { killAfterBytes = Number.POSITIVE_INFINITY } = work;
  const numbers = [count, characters, snapshotEvery].map(String);
  const child = runProcess(writer, [path, sessionId, begins ? 'begin' : 'go-on', ...numbers]);
  let said = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.length >= killAfterBytes) child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [, signal] = await once(child, 'close');
  const whole = said.slice(0, said.lastIndexOf('\n') + 1).split('\n');
  return { acknowledged: Number(whole.at(-2) ?? -1), signal, errors };
}

test.each([
  { records: 'small', characters: 10 },
  // Larger than a database page, and than the write-ahead log before it is copied back.
  { records: 'large', characters: 100_000 },
])('killed at any instant, a writer of $records records loses no acknowledged one', async ({ characters }) => {
  const path = join(folder, `${characters}.db`);
  const sessionId = 'killed';
  const rounds = long > 0 ? Math.ceil(60 * long) : 4;
  for (let round = 0; round < rounds; round += 1) {
    const killAfterBytes = 1 + ((round * 47) % 150);
    const { acknowledged, signal, errors } = await write({
      path,
      sessionId,
      begins: round === 0,
      count: 1_000_000,
      characters,
      snapshotEvery: 7,
      killAfterBytes,
    });
    expect({ signal, errors }, `round ${round}, killed after ${killAfterBytes} bytes`).toEqual({
      signal: 'SIGKILL',
      errors: '',
    });
    const { records, problem } = readSqliteLog(path, { sessionId });
    expect(problem).toBeUndefined();
    expect(records.length).toBeGreaterThan(acknowledged);
    expect(acknowledged).toBeGreaterThan(-1);
  }
  // The session was never released; its last writer is dead.
  const { store, records } = openSqliteLog(path, { sessionId });
  const next = (records.at(-1)?.seq ?? -1) + 1;
  expect([records[0]?.type, records.length <= 7, next >= rounds]).toEqual(['snapshot', true, true]);
  store.append({ type: 'note' }, next, 1);
  store.close();
  expect(readSqliteLog(path, { sessionId }).records).toHaveLength(next + 1);
});

test('concurrent processes can all create sessions in one new database', async () => {
  const path = join(folder, 'shared.db');
  const ids = ['a', 'b', 'c', 'd'];
  const ends = await Promise.all(
    ids.map((sessionId) => write({ path, sessionId, begins: true, count: 100, characters: 10 })),
  );
  expect(ends).toEqual(ids.map(() => ({ acknowledged: 99, signal: null, errors: '' })));
  expect(listSqliteSessions(path).map(({ records }) => records)).toEqual([100, 100, 100, 100]);
  for (const sessionId of ids) expect(readSqliteLog(path, { sessionId }).problem).toBeUndefined();
});

// Prints the result of opening, and holds the session until stdin closes.
const opener = `
  import { openSqliteLog } from ${JSON.stringify(new URL('../../sqlite.ts', import.meta.url).href)};
  const [path, sessionId] = process.argv.slice(1);
  process.stdin.on('end', () => process.exit());
  process.stdin.once('data', () => {
    try {
      openSqliteLog(path, { sessionId });
      process.stdout.write('opened');
    } catch (error) {
      process.stdout.write(error.code);
    }
  });
  process.stdout.write('ready');
`;

test("of many processes that open a killed process's session, exactly one succeeds", async () => {
  const path = join(folder, 'race.db');
  const sessionId = 's';
  // Large, so that reads overlap.
  await write({ path, sessionId, begins: true, count: long > 0 ? 20_000 : 2_000, characters: 10 });
  const database = new DatabaseSync(path);
  const dead = JSON.stringify({ ...(JSON.parse(newWriter()) as object), pid: 2 ** 30 });
  for (let round = 0; round < (long > 0 ? 3 : 1); round += 1) {
    database.prepare('UPDATE holdfast_sessions SET writer = ?').run(dead);
    const children = Array.from({ length: 4 }, () => runProcess(opener, [path, sessionId]));
    const answers = (): Promise<readonly string[]> =>
      Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
    expect(new Set(await answers())).toEqual(new Set(['ready']));
    const opened = answers();
    for (const { stdin } of children) stdin.write('open');
    expect((await opened).toSorted()).toEqual(['log.locked', 'log.locked', 'log.locked', 'opened']);
    for (const child of children) {
      child.stdin.end();
      await once(child, 'close');
    }
  }
  database.close();
});

test('log.locked: a session open in another process is not taken over', async () => {
  const path = join(folder, 'locked.db');
  await write({ path, sessionId: 's', begins: true, count: 1, characters: 10 });
  const { store } = openSqliteLog(path, { sessionId: 's' });
  const { errors } = await write({ path, sessionId: 's', begins: false, count: 1, characters: 10 });
  expect(errors).toContain('log.locked');
  store.append({ type: 'note' }, 1, 1);
  store.close();
  expect(readSqliteLog(path, { sessionId: 's' }).records).toHaveLength(2);
});
