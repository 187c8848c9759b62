import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHoldfastError, type Outcome } from '@holdfast/core';
import { executeToolCall, recoverSession, resumeToolCall } from '@holdfast/executor';
import {
  createSession,
  type LogEntry,
  type LogRecord,
  replay,
  type Session,
  type SessionStore,
} from '@holdfast/session';
import { createJsonlLog, openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { manualClock } from '@holdfast/testing';
import { expect } from 'vitest';
import { type Fault, FaultyDisk } from './log-faults-disk.ts';
import { notes, repeatable, script, slices, World } from './log-faults-script.ts';

/** How a call ended for its caller: the code of what it rejected with, where there was no outcome. */
interface Told {
  readonly callId: string;
  readonly name: string;
  readonly input: object;
  readonly kind: Outcome['kind'] | 'suspended' | 'rejected';
  readonly code: string | undefined;
}

/** A host that makes the calls of the script, and opens its log anew when that has broken. */
class Host {
  readonly world = new World();
  readonly told = new Map<string, Told>();
  /** Records that the store has taken, as far as the process lived to know. */
  readonly acknowledged: LogRecord[] = [];
  session: Session | undefined;
  reopened = 0;
  readonly #place: Place;
  readonly #disk: FaultyDisk;

  constructor(place: Place, disk: FaultyDisk) {
    this.#place = place;
    this.#disk = disk;
  }

  async run(): Promise<void> {
    for (const [index, [name, input = {}]] of script.entries()) {
      this.session ??= await this.#open(index > 0);
      if (this.session === undefined) return;
      const callId = `c${index}`;
      const { kind, code } = await this.#call(callId, name, input, this.session);
      // No listener is left.
      if (this.#disk.crashed) return;
      this.told.set(callId, { callId, name, input, kind, code });
      if (code === 'log.broken') {
        await this.#close();
        this.session = undefined;
      }
    }
    await this.#close();
  }

  async #call(id: string, name: string, input: object, session: Session): Promise<Pick<Told, 'kind' | 'code'>> {
    try {
      const ended = await executeToolCall({ id, name, arguments: input }, this.world.options(session));
      return ended.kind === 'suspended' ? { kind: 'suspended', code: undefined } : ended;
    } catch (error) {
      return { kind: 'rejected', code: this.#codeOf(error) };
    }
  }

  /** Until it works: the disk does not fail for ever. */
  async #open(again: boolean): Promise<Session | undefined> {
    for (let attempt = 0; attempt < 50; attempt += 1) {
      let session: Session | undefined;
      try {
        session = openSession(this.#place, (store) => this.#watch(store));
        if (again) {
          for (const { callId, kind, code } of await settle(session, this.world)) {
            const { name, input } = this.told.get(callId) ?? { name: '', input: {} };
            this.told.set(callId, { callId, name, input, kind, code });
          }
          this.reopened += 1;
        }
        return session;
      } catch (error) {
        this.#codeOf(error);
        if (this.#disk.crashed) return undefined;
        await session?.close();
        // An error on the way in, and another one on the way out.
        this.#letGo(2);
      }
    }
    throw new Error('The log could not be opened.');
  }

  #watch(store: SessionStore): SessionStore {
    const append = (entry: LogEntry, seq: number, atMs: number): void => {
      store.append(entry, seq, atMs);
      this.acknowledged.push(JSON.parse(JSON.stringify({ seq, atMs, ...entry })) as LogRecord);
    };
    return Object.assign(Object.create(store) as SessionStore, { append });
  }

  async #close(): Promise<void> {
    try {
      await this.session?.close();
    } catch {
      // It rejects with whatever the system says; what was recorded is checked in any case.
    }
    if (!this.#disk.crashed) this.#letGo(1);
  }

  /** A closed log is free, unless so many errors kept the lock there: then it goes with its process. */
  #letGo(errors: number): void {
    const failures = this.#disk.takeFailures();
    const lock = `${this.#place.path}.lock`;
    if (!existsSync(lock)) return;
    if (failures < errors) throw new Error(`\`${lock}\` was left after ${failures} errors.`);
    this.#disk.removeAnyway(lock);
  }

  /** Everything that goes wrong says so in our own words, but to a process that has ended. */
  #codeOf(error: unknown): string | undefined {
    if (this.#disk.crashed) return undefined;
    if (!isHoldfastError(error)) throw error;
    return error.code;
  }
}

/** A log, and how long it gets before it goes on in a new file. */
interface Place {
  readonly path: string;
  readonly snapshotAfterBytes: number;
}

function openSession({ path, ...options }: Place, watch: (store: SessionStore) => SessionStore): Session {
  const clock = manualClock();
  const { records, store } = existsSync(path)
    ? openJsonlLog(path, options)
    : { records: [], store: createJsonlLog(path, options) };
  try {
    // Without a record when the process ended before the first one was written.
    return records.length === 0
      ? createSession({ id: 's', store: watch(store), slices, clock })
      : replay(records, { slices, store: watch(store), clock });
  } catch (error) {
    giveBack(store);
    throw error;
  }
}

/** A close that fails as well does not hide the first reason. */
function giveBack(store: SessionStore): void {
  try {
    store.close();
  } catch {
    // See above.
  }
}

/** Ends what was in flight or waits, also what may be repeated, and says how. */
async function settle(session: Session, world: World): Promise<readonly Outcome[]> {
  const options = world.options(session);
  const { repeatable: begun, outcomes, failures } = await recoverSession(options);
  expect(failures).toEqual([]);
  for (const { name } of begun) expect(repeatable.has(name)).toBe(true);
  const ended = [...outcomes];
  for (const { callId } of session.openWork().calls) {
    const outcome = await resumeToolCall(callId, options);
    if (outcome.kind === 'suspended') throw new Error(`\`${callId}\` still waits.`);
    ended.push(outcome);
  }
  expect(session.openWork()).toEqual({ runs: [], plans: [], calls: [] });
  return ended;
}

/** The result of one fault at one operation. */
export interface FaultSeen {
  /** The operation that met it; absent when there are fewer. */
  readonly failed: string | undefined;
  readonly told: readonly Told[];
  readonly reopened: number;
}

/** Runs the script with one fault after another at every `step`-th operation of its log from `from` on; answers which met one. */
export async function checkEveryOperation(
  faults: readonly Fault[],
  snapshotAfterBytes: number,
  { from = 0, step = 1 }: { readonly from?: number; readonly step?: number } = {},
): Promise<readonly string[]> {
  const met: string[] = [];
  for (let at = from; ; at += step) {
    const fault = faults[met.length % faults.length] ?? { type: 'short' };
    try {
      const { failed } = await checkFault(fault, at, snapshotAfterBytes);
      if (failed === undefined) return met;
      met.push(failed);
    } catch (cause) {
      throw new Error(`${JSON.stringify(fault)} at operation ${at}, after ${met.at(-1)}`, { cause });
    }
  }
}

/** Runs the script with a fault at the `at`-th operation of its log, and checks every promise about what is left. */
export async function checkFault(fault: Fault, at: number, snapshotAfterBytes: number): Promise<FaultSeen> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-faults-')));
  using disk = new FaultyDisk(folder);
  try {
    const path = join(folder, 'logs', 's.jsonl');
    const place = { path, snapshotAfterBytes };
    const host = new Host(place, disk);
    disk.plan(fault, at);
    await host.run();
    const { crashed, failed, removalFailed } = disk;
    disk.repair();
    // This process, which holds it, has not really ended.
    if (crashed) rmSync(`${path}.lock`, { force: true });
    if (existsSync(path)) await checkLog(host, path, crashed);
    else expect(host.acknowledged).toEqual([]);
    await checkNext(host, place);
    const left = readdirSync(join(path, '..')).filter((name) => !/^s\.jsonl(?:\.before-\d+|\.torn-\d+)?$/.test(name));
    if (!crashed && !removalFailed) expect(left).toEqual([]);
    return { failed, told: [...host.told.values()], reopened: host.reopened };
  } finally {
    disk.repair();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function checkLog({ world, told, acknowledged, session }: Host, path: string, crashed: boolean): Promise<void> {
  const { records, problem, torn } = readLog(path);
  expect(problem).toBeUndefined();
  if (!crashed) expect(torn).toBeUndefined();
  // All of them and, where the process ended between write and answer, one more; each number once.
  expect(records.slice(0, acknowledged.length)).toEqual(acknowledged);
  expect(records.length - acknowledged.length).toBeLessThanOrEqual(crashed ? 1 : 0);
  expect(acknowledged.map(({ seq }) => seq)).toEqual(acknowledged.map((_record, index) => index));

  const ends = Map.groupBy(
    records.filter((record) => record.type === 'tool-call-end'),
    ({ callId }) => String(callId),
  );
  const kinds = (callId: string): readonly unknown[] =>
    (ends.get(callId) ?? []).map(({ outcome }) => (outcome as { kind: string }).kind);
  for (const { callId, kind, code } of told.values()) {
    // A call whose end could not be recorded has none.
    expect(kinds(callId), `${callId} ${code}`).toEqual(kind === 'rejected' ? [] : [kind]);
  }
  const starts = new Set(records.filter(({ type }) => type === 'tool-call-start').map(({ callId }) => callId));
  for (const effect of world.effects) expect(starts.has(effect), effect).toBe(true);
  if (!crashed) {
    const successes = [...ends.keys()].filter((callId) => !callId.includes('/') && kinds(callId).includes('ok'));
    const heard = [...told.values()].filter(({ kind }) => kind === 'ok').map(({ callId }) => callId);
    expect(new Set(successes)).toEqual(new Set(heard));
    expect(await world.files()).toEqual(expectedFiles(records));
  }

  if (session === undefined) return;
  const rebuilt = replay(records.slice(0, acknowledged.length), { slices }).export();
  const known = new Set(rebuilt.slices.map(({ id }) => id));
  expect(session.export().slices.filter(({ id }) => known.has(id))).toEqual(rebuilt.slices);
}

/** The content that the successful calls have left in the files. */
function expectedFiles(records: readonly LogRecord[]): Record<string, string> {
  const files = new Map([['b.txt', 'unread']]);
  for (const { type, outcome, name, input, parentId } of records) {
    if (type !== 'tool-call-end' || parentId !== undefined || (outcome as { kind: string }).kind !== 'ok') continue;
    const { path = '', content = '', text: given = '' } = input as Record<string, string>;
    if (name === 'write_file') files.set(path, content);
    if (name === 'delete_file') files.delete(path);
    if (name === 'outer') files.set(given, 'nested');
  }
  return Object.fromEntries(files);
}

/** The log opens, what was in flight is settled, and the next calls work. */
async function checkNext({ world, acknowledged }: Host, place: Place): Promise<void> {
  const session = openSession(place, (store) => store);
  await settle(session, world);
  for (const callId of world.effects) {
    const name = script[Number(callId.slice(1).split('/')[0])]?.[0] ?? '';
    // Only what may be repeated has been.
    if (!repeatable.has(name)) expect(world.effects.filter((other) => other === callId)).toEqual([callId]);
  }
  const before = session.read(notes).toArray();
  const outcome = await executeToolCall(
    { id: 'next', name: 'note', arguments: { text: 'next' } },
    world.options(session),
  );
  expect(outcome.kind).toBe('ok');
  expect(session.read(notes).toArray()).toEqual([...before, 'next']);
  await session.close();
  const { records, problem, torn } = readLog(place.path);
  expect([problem, torn]).toEqual([undefined, undefined]);
  expect(records.slice(0, acknowledged.length)).toEqual(acknowledged);
}
