import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  append,
  clear,
  defineSlice,
  type Json,
  type KeyedState,
  type ListState,
  remove,
  replace,
  type Slice,
  upsert,
} from '@holdfast/core';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import {
  createSession,
  type LogRecord,
  memoryStore,
  replay,
  type Session,
  type SessionSnapshot,
  type SessionStore,
  type SessionTransaction,
} from '../index.ts';
import { createJsonlLog, type JsonlLog, openJsonlLog, readLog, type SnapshotOptions } from '../jsonl.ts';
import type { ExportedSlice } from './export.ts';

const total: Slice<number> = defineSlice<number>({
  id: 'total',
  kind: 'value',
  initial: 1,
  reducers: {
    added: (state, payload) => {
      if (state + Number(payload) > 30) throw new Error('too much');
      return replace(state + Number(payload));
    },
    emptied: () => clear,
  },
});
const items: Slice<ListState<{ n: number; done: boolean }>> = defineSlice({
  id: 'items',
  kind: 'list',
  schema: v.object({ n: v.number(), done: v.optional(v.boolean(), false) }),
  reducers: {
    added: (_state, payload) => append({ n: payload }, { n: payload, done: true }),
    emptied: () => [clear, append({ n: -1 })],
  },
});
const scores: Slice<KeyedState<number>> = defineSlice<number>({
  id: 'scores',
  kind: 'keyed',
  reducers: {
    scored: (state, payload) => {
      const [key, score] = payload as [string, number];
      return score === 0 ? remove(key) : upsert(key, (state.get(key) ?? 0) + score);
    },
  },
});
const diary: Slice<ListState<Json>> = defineSlice<Json>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});
const definitions: readonly Slice[] = [total, items, scores, diary];
const lateTotal = defineSlice<number>({
  id: 'late/total',
  kind: 'value',
  initial: 0,
  reducers: { added: (state, payload) => replace(state + Number(payload)) },
});
const lateDiary = defineSlice<Json>({
  id: 'late/diary',
  kind: 'keyed',
  retention: 'log',
  reducers: { happened: (state, payload) => upsert(String(payload), state.size) },
});
const lateDefinitions: readonly Slice[] = [lateTotal, lateDiary];

// Recreated on every use, as policies are for every run.
const policySlices = {
  last: (): Slice => defineSlice<Json>({ id: 'policy:last', kind: 'value', initial: { never: true }, reducers: {} }),
  seen: (): Slice =>
    defineSlice<{ at: number; by: string }>({
      id: 'policy:seen',
      kind: 'keyed',
      schema: v.object({ at: v.number(), by: v.optional(v.string(), 'nobody') }),
      reducers: {},
    }),
  trail: (): Slice => defineSlice<Json>({ id: 'policy:trail', kind: 'list', reducers: {} }),
};

const key = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toJSON');
const json = fc.oneof(
  fc.nat(9),
  fc.constantFrom('x', '\ud800', '{"lc":1,"type":"constructor"}'),
  fc.constant({ lc: 1, type: 'constructor', id: ['child_process'], toJSON: 'x', $type: 'Function' }),
);
const event = fc.oneof(
  fc.record({ type: fc.constantFrom('added'), payload: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ type: fc.constantFrom('emptied'), payload: fc.constant(null) }),
  fc.record({ type: fc.constantFrom('scored'), payload: fc.tuple(key, fc.integer({ min: 0, max: 3 })) }),
  fc.record({ type: fc.constantFrom('happened'), payload: json }),
);
const move = fc.oneof(
  { weight: 3, arbitrary: event.map((staged) => ({ do: 'dispatch' as const, staged })) },
  { weight: 1, arbitrary: json.map((payload) => ({ do: 'publish' as const, payload })) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('apply' as const), key, json, which: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read-late' as const), which: fc.nat(1) }) },
);
const moves = fc.array(move, { maxLength: 4 });
const at = fc.nat(5);
const step = fc.oneof(
  { weight: 3, arbitrary: event.map((staged) => ({ do: 'dispatch' as const, staged })) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('begin' as const), at, nested: fc.boolean(), moves }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('go-on' as const), at, moves }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), at, success: fc.nat(3).map((n) => n > 0) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'record' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'snapshot' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restore' as const), at }) },
  { weight: 1, arbitrary: fc.constant({ do: 'reset' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('import' as const), at, without: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'fork' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Move = typeof move extends fc.Arbitrary<infer Value> ? Value : never;

interface Kept {
  readonly store: SessionStore;
  /** The first `count`, or all. */
  readonly records: (count?: number) => readonly LogRecord[];
}

/** A session with its prehistory: the sessions that it was forked from, each up to that point. */
interface Line {
  readonly session: Session;
  readonly kept: Kept;
  readonly origin: { readonly line: Line; readonly seq: number } | undefined;
}

interface Open {
  readonly transaction: SessionTransaction;
  readonly around: Open | undefined;
}

/** Plays the steps and returns every resulting session. */
function play(steps: readonly Step[], newStore: () => Kept): Line[] {
  const kept = newStore();
  let line: Line = {
    session: createSession({ id: 's', slices: definitions, store: kept.store }),
    kept,
    origin: undefined,
  };
  const lines = [line];
  const exports = [line.session.export()];
  let snapshots: SessionSnapshot[] = [];
  let open: Open[] = [];
  for (const current of steps) {
    const { session } = line;
    const chosen = 'at' in current ? open[current.at % Math.max(open.length, 1)] : undefined;
    switch (current.do) {
      case 'dispatch':
        attempt(() => session.dispatch(current.staged));
        break;
      case 'begin': {
        const around = current.nested ? chosen : undefined;
        attempt(() => {
          const opened = { transaction: (around?.transaction ?? session).begin(), around };
          open.push(opened);
          for (const each of current.moves) perform(each, opened.transaction, session);
        });
        break;
      }
      case 'go-on':
        if (chosen !== undefined)
          attempt(() => current.moves.forEach((each) => void perform(each, chosen.transaction, session)));
        break;
      case 'end':
        if (chosen === undefined) break;
        open = open.filter((other) => other !== chosen);
        if (current.success) attempt(() => commit(chosen));
        chosen.transaction.discard();
        break;
      case 'record':
        session.record({ type: 'tool-call-end', outcome: { kind: 'failed' }, events: [] });
        break;
      case 'snapshot':
        snapshots.push(session.snapshot());
        exports.push(session.export());
        break;
      case 'restore': {
        const snapshot = snapshots[current.at % Math.max(snapshots.length, 1)];
        if (snapshot !== undefined) session.restore(snapshot);
        break;
      }
      case 'reset':
        session.reset();
        break;
      case 'import': {
        const data = exports[current.at % exports.length];
        if (data === undefined) break;
        const slices = data.slices.filter((_slice, index) => index !== current.without);
        attempt(() => session.import(JSON.parse(JSON.stringify({ ...data, slices }))));
        break;
      }
      case 'fork': {
        const forked = newStore();
        const { seq } = session.snapshot();
        line = {
          session: session.fork({ id: `${session.id}+`, store: forked.store }),
          kept: forked,
          origin: { line, seq },
        };
        lines.push(line);
        snapshots = [];
        open = [];
        break;
      }
      case 'replay': {
        // The remaining steps run on the rebuilt sessions; slices that were only read so far are logged with the next record.
        session.record({ type: 'handed over' });
        line = { ...line, session: rebuild(line, { store: line.kept.store }) };
        lines[lines.length - 1] = line;
        open = [];
        break;
      }
    }
  }
  return lines;
}

function perform(current: Move, transaction: SessionTransaction, session: Session): void {
  if (current.do === 'dispatch') transaction.dispatch(current.staged);
  else if (current.do === 'publish') transaction.publish({ type: 'happened', payload: current.payload });
  else if (current.do === 'apply') applyAsPolicy(current, transaction);
  else if (current.which === 0) transaction.read(lateTotal);
  else session.read(lateDiary);
}

function applyAsPolicy(
  { which, key: chosen, json: item }: Extract<Move, { do: 'apply' }>,
  to: SessionTransaction,
): void {
  if (which === 0) to.apply(policySlices.last(), [replace(item)]);
  else if (which === 1) to.apply(policySlices.seen(), [upsert(chosen, { at: 1 })]);
  else if (which === 2) to.apply(policySlices.seen(), [remove(chosen)]);
  else if (which === 3) to.apply(policySlices.seen(), [replace(Object.fromEntries([[chosen, { at: 2, by: 'b' }]]))]);
  else to.apply(policySlices.trail(), [append(item, chosen)]);
}

function commit({ transaction, around }: Open): void {
  transaction.commit({
    type: 'tool-call-end',
    callId: 'c',
    ...(around === undefined ? {} : { parentId: 'p' }),
    events: transaction.events.map((staged) => ({ ...staged })),
    changes: transaction.changes,
  });
}

function rebuild({ kept, origin }: Line, options: { readonly store?: SessionStore } = {}, upTo?: number): Session {
  const base = origin === undefined ? {} : { base: rebuild(origin.line, {}, origin.seq) };
  return replay(kept.records(upTo), { slices: [...definitions, ...lateDefinitions], ...base, ...options });
}

function attempt(run: () => void): void {
  try {
    run();
  } catch (thrown) {
    // An expected outcome; the log must still reproduce the state.
    expect(String(thrown)).toMatch(/too much|has ended|was changed concurrently/);
  }
}

/** Without slices that only one side has met: all definitions were passed to the other. */
function slicesOf(session: Session, like: Session = session): readonly ExportedSlice[] {
  const ids = new Set(like.export().slices.map(({ id }) => id));
  return session.export().slices.filter(({ id }) => ids.has(id));
}

function checkLines(lines: readonly Line[]): void {
  for (const line of lines) {
    const { session } = line;
    // The log then declares every slice in use.
    session.record({ type: 'last' });
    const live = slicesOf(session);
    const rebuilt = rebuild(line);
    expect(slicesOf(rebuilt, session)).toEqual(live);
    expect(rebuilt.snapshot().seq).toBe(session.snapshot().seq);

    const fresh = createSession({ slices: [...definitions, ...lateDefinitions] });
    fresh.import(JSON.parse(JSON.stringify(session.export())));
    expect(slicesOf(fresh, session)).toEqual(live);
  }
}

function inMemory(): Kept {
  const store = memoryStore();
  return { store, records: (count) => store.records.slice(0, count) };
}

/** Asks for a snapshot after one of four records, and returns the records since the last one. */
function inMemoryWithSnapshots(seed: number): () => Kept {
  let random = seed;
  return () => {
    const store = memoryStore();
    const asking = {
      ...store,
      get snapshotDue() {
        random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
        return random % 4096 < 1024;
      },
    };
    return { store: asking, records: (count) => fromSnapshot(store.records.slice(0, count)) };
  };
}

function fromSnapshot(records: readonly LogRecord[]): readonly LogRecord[] {
  const last = records.findLastIndex(({ type }) => type === 'snapshot');
  return last < 0 ? records : records.slice(last);
}

test("property: a log rebuilds its session's state, also when the program continues on the rebuilt session", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => checkLines(play(steps, inMemory))),
    { numRuns: 50 },
  );
});

test('property: so do the records from any snapshot on, and a whole log with snapshots', () => {
  let snapshots = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), fc.nat(), (steps, seed) => {
      const lines = play(steps, inMemoryWithSnapshots(seed));
      checkLines(lines);
      const whole = lines.map((line) => withAllRecords(line));
      checkLines(whole);
      for (const { kept } of whole) snapshots += kept.records().filter(({ type }) => type === 'snapshot').length;
    }),
    { numRuns: 50 },
  );
  expect(snapshots).toBeGreaterThan(50);
});

function withAllRecords({ session, kept, origin }: Line): Line {
  return {
    session,
    kept: { store: kept.store, records: (count) => [...(kept.store.read?.() ?? [])].slice(0, count) },
    origin: origin && { line: withAllRecords(origin.line), seq: origin.seq },
  };
}

test.each([
  ['in a file', Number.POSITIVE_INFINITY],
  ['in several files, by snapshots', 0],
])('property: a log read back from disk does so, too: %s', (_what, snapshotAfterBytes) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-replay-'));
  let count = 0;
  const inFile = (): Kept => {
    count += 1;
    const path = join(folder, `${count}.jsonl`);
    return {
      store: createJsonlLog(path, { snapshotAfterBytes }),
      records: (upTo) => {
        const { records, problem, torn } = readLog(path);
        expect([problem, torn]).toEqual([undefined, undefined]);
        return records.slice(0, upTo);
      },
    };
  };
  let snapshots = 0;
  try {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        const lines = play(steps, inFile);
        checkLines(lines);
        for (const { kept } of lines) kept.store.close();
        const opened = lines.map((line) => openAgain(line, { snapshotAfterBytes }));
        checkLines(opened);
        for (const { kept } of opened) kept.store.close();
        for (const { kept } of lines) snapshots += kept.records().filter(({ type }) => type === 'snapshot').length;
      }),
      { numRuns: 8 },
    );
    expect(snapshots > 0).toBe(snapshotAfterBytes === 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The session as opened from its file. */
function openAgain(line: Line, options: SnapshotOptions): Line {
  const { path } = line.kept.store as JsonlLog;
  const { records, store, torn, earlier } = openJsonlLog(path, options);
  expect([torn, earlier]).toEqual([undefined, undefined]);
  const given = { slices: [...definitions, ...lateDefinitions], store };
  const base = line.origin && { base: rebuild(line.origin.line, {}, line.origin.seq) };
  return { ...line, session: replay(records, { ...given, ...base }), kept: { ...line.kept, store } };
}
