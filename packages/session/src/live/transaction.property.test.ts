import {
  append,
  defineSlice,
  isHoldfastError,
  type Json,
  type KeyedState,
  type ListState,
  type Operation,
  remove,
  replace,
  type SessionEvent,
  type SessionReader,
  type Slice,
  upsert,
} from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSession, memoryStore, type SessionTransaction } from '../index.ts';

const limit = 12;

const total: Slice<number> = defineSlice<number>({
  id: 'total',
  kind: 'value',
  initial: 0,
  reducers: {
    added: (state, payload) => {
      if (state + Number(payload) > limit) throw new Error('too much');
      return replace(state + Number(payload));
    },
  },
});
const items: Slice<ListState<Json>> = defineSlice<Json>({
  id: 'items',
  kind: 'list',
  reducers: { added: (_state, payload) => append(payload) },
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
const last: Slice<Json> = defineSlice<Json>({ id: 'policy:last', kind: 'value', initial: null, reducers: {} });
const seen: Slice<KeyedState<Json>> = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });

/** The model: plain state, without persistence, operations or transactions. */
interface Model {
  readonly total: number;
  readonly items: readonly Json[];
  readonly scores: Readonly<Record<string, number>>;
  readonly diary: readonly Json[];
  readonly last: Json;
  readonly seen: Readonly<Record<string, Json>>;
}
type Name = keyof Model;
const names: readonly Name[] = ['total', 'items', 'scores', 'diary', 'last', 'seen'];
const empty: Model = { total: 0, items: [], scores: {}, diary: [], last: null, seen: {} };

type Move =
  | { readonly type: 'added'; readonly payload: number }
  | { readonly type: 'scored'; readonly payload: readonly [string, number] }
  | { readonly type: 'happened'; readonly payload: Json }
  | { readonly type: 'last'; readonly payload: Json }
  | { readonly type: 'seen'; readonly payload: string };

const touches: Readonly<Record<Move['type'], readonly Name[]>> = {
  added: ['total', 'items'],
  scored: ['scores'],
  happened: ['diary'],
  last: ['last'],
  seen: ['seen'],
};

function after(model: Model, move: Move): Model {
  switch (move.type) {
    case 'added':
      return { ...model, total: model.total + move.payload, items: [...model.items, move.payload] };
    case 'scored': {
      const [key, score] = move.payload;
      const { [key]: old = 0, ...others } = model.scores;
      return { ...model, scores: score === 0 ? others : { ...others, [key]: old + score } };
    }
    case 'happened':
      return { ...model, diary: [...model.diary, move.payload] };
    case 'last':
      return { ...model, last: move.payload };
    case 'seen':
      return { ...model, seen: { ...model.seen, [move.payload]: true } };
  }
}

class ModelTransaction {
  readonly real: SessionTransaction;
  readonly parent: ModelTransaction | undefined;
  readonly own: Move[] = [];
  readonly #bases = new Map<Name, unknown>();
  ended = false;

  constructor(real: SessionTransaction, parent: ModelTransaction | undefined) {
    this.real = real;
    this.parent = parent;
  }

  get open(): boolean {
    return !this.ended && (this.parent?.open ?? true);
  }

  stage(move: Move, root: Model): void {
    for (const name of touches[move.type]) if (!this.#bases.has(name)) this.#bases.set(name, this.below(root)[name]);
    this.own.push(move);
  }

  below(root: Model): Model {
    return this.parent === undefined ? root : this.parent.view(root);
  }

  /** Staged changes apply to the state at the first step on a slice; on a log slice always to the current state. */
  view(root: Model): Model {
    const below = this.below(root);
    const bases = Object.fromEntries(
      names.map((name) => [name, name !== 'diary' && this.#bases.has(name) ? this.#bases.get(name) : below[name]]),
    );
    return this.own.reduce(after, bases as unknown as Model);
  }

  /** True if it replaces a whole value that was changed meanwhile. */
  conflicts(root: Model): boolean {
    return this.own.some(({ type }) => type === 'last') && !Object.is(this.#bases.get('last'), this.below(root).last);
  }

  /** The underlying state after a commit, or undefined if a reducer throws. */
  committed(root: Model): Model | undefined {
    let model = this.below(root);
    for (const move of this.own) {
      if (move.type === 'added' && model.total + move.payload > limit) return undefined;
      model = after(model, move);
    }
    return model;
  }
}

const key = fc.constantFrom('a', 'b', 'c');
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ type: fc.constant('added' as const), payload: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ type: fc.constant('scored' as const), payload: fc.tuple(key, fc.integer({ min: 0, max: 3 })) }),
  fc.record({ type: fc.constant('happened' as const), payload: fc.nat(99) }),
  // Often enough that two of them collide in one of a hundred runs.
  { weight: 4, arbitrary: fc.record({ type: fc.constant('last' as const), payload: fc.nat(99) }) },
  fc.record({ type: fc.constant('seen' as const), payload: key }),
);
const at = fc.nat(7);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('begin' as const), at, nested: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('move' as const), at, move }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('publish' as const), at, payload: fc.nat(99) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('commit' as const), at, full: fc.nat(9).map((n) => n === 0) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('discard' as const), at }) },
);

test('property: any interleaving of transactions, nested and concurrent, equals its commits in sequence', () => {
  let conflicts = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const kept = memoryStore();
      let full = false;
      const session = createSession({
        id: 's',
        slices: [total, items, scores, diary, last, seen],
        store: {
          ...kept,
          append(entry, seq, atMs) {
            if (full) throw new Error('disk full');
            kept.append(entry, seq, atMs);
          },
        },
      });
      let root = empty;
      const all: ModelTransaction[] = [];
      for (const current of steps) {
        const open = all.filter((transaction) => transaction.open);
        const chosen = open[current.at % Math.max(open.length, 1)];
        const records = kept.records.length;
        if (current.do === 'begin') {
          const parent = current.nested ? chosen : undefined;
          all.push(new ModelTransaction((parent?.real ?? session).begin(), parent));
        } else if (chosen === undefined) continue;
        else if (current.do === 'move') {
          const refused =
            current.move.type === 'added' && chosen.view(root).total + current.move.payload > limit ? 'too much' : '';
          expect(messageOf(() => perform(chosen.real, current.move))).toBe(refused);
          if (refused === '') chosen.stage(current.move, root);
        } else if (current.do === 'publish') {
          chosen.real.publish({ type: 'happened', payload: current.payload });
          root = after(root, { type: 'happened', payload: current.payload });
        } else if (current.do === 'discard') {
          chosen.real.discard();
          chosen.ended = true;
        } else {
          const committed = chosen.committed(root);
          ({ full } = current);
          const refusals = [
            ...(committed === undefined ? ['too much'] : []),
            ...(chosen.conflicts(root) ? ['commit.conflict'] : []),
          ];
          const possible = refusals.length > 0 ? refusals : [full ? 'disk full' : ''];
          const refused = messageOf(() => commit(chosen.real));
          expect(possible).toContain(refused);
          if (refused === 'commit.conflict') conflicts += 1;
          full = false;
          expect(kept.records).toHaveLength(refused === '' ? records + 1 : records);
          if (refused !== '') chosen.real.discard();
          else if (chosen.parent === undefined) root = committed ?? root;
          else for (const own of chosen.own) chosen.parent.stage(own, root);
          chosen.ended = true;
        }
        expect(stateOf(session)).toEqual(root);
        for (const transaction of all) {
          expect(stagedBy(transaction.real)).toEqual(transaction.own.filter(isEvent));
          expect(transaction.real.changes).toHaveLength(transaction.own.filter((own) => !isEvent(own)).length);
          if (transaction.open) expect(stateOf(transaction.real)).toEqual(transaction.view(root));
          else expect(() => transaction.real.read(total)).toThrow(expect.objectContaining({ code: 'context.closed' }));
        }
      }
    }),
    { numRuns: 150 },
  );
  expect(conflicts).toBeGreaterThan(0);
});

function perform(transaction: SessionTransaction, { type, payload }: Move): void {
  if (type === 'last') transaction.apply(last, [replace(payload)]);
  else if (type === 'seen') transaction.apply(seen, [upsert(payload, true)] satisfies Operation[]);
  else transaction.dispatch({ type, payload } satisfies SessionEvent);
}

function commit(transaction: SessionTransaction): void {
  const events = transaction.events.map((event) => ({ ...event }));
  transaction.commit({ type: 'tool-call-end', events, changes: transaction.changes });
}

function stagedBy(transaction: SessionTransaction): SessionEvent[] {
  return transaction.events.map(({ type, payload }) => ({ type, payload }));
}

function isEvent({ type }: Move): boolean {
  return type !== 'last' && type !== 'seen';
}

function stateOf(reader: SessionReader): Model {
  return {
    total: reader.read(total),
    items: reader.read(items).toArray(),
    scores: reader.read(scores).toObject(),
    diary: reader.read(diary).toArray(),
    last: reader.read(last),
    seen: reader.read(seen).toObject() as Record<string, Json>,
  };
}

function messageOf(run: () => void): string {
  try {
    run();
    return '';
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.code === 'commit.conflict') return thrown.code;
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
