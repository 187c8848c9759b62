import {
  append,
  defineSlice,
  defineTool,
  type ExecutableTool,
  type Json,
  type KeyedState,
  type ListState,
  type Slice,
  toolError,
  toolOk,
  upsert,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type Session, type SessionSnapshot, type SessionStore } from '@holdfast/session';
import * as v from 'valibot';
import { type Against, compare, cpuNow, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { twoPolicies } from './forecast.ts';

const sizes = [10, 1_000_000];
const operations = 100;
const hotKeys = 10;
/** Ratio of the cost at the largest size to that at the smallest. */
const largestRatio = 2;
const noGoal = {};

type Item = { readonly id: number; readonly title: string; readonly done: boolean };

interface Span {
  readonly from: number;
  readonly count: number;
}

const itemsByKey: Slice<KeyedState<Item>> = defineSlice<Item>({
  id: 'bench/by-key',
  kind: 'keyed',
  reducers: {
    filled: (_state, span) => itemsOf(span as unknown as Span).map((item) => upsert(keyOf(item.id), item)),
    'item-set': (_state, item) => upsert(keyOf((item as Item).id), item),
  },
});

const itemList: Slice<ListState<Item>> = defineSlice<Item>({
  id: 'bench/list',
  kind: 'list',
  reducers: {
    filled: (_state, span) => append(...itemsOf(span as unknown as Span)),
    'item-added': (_state, item) => append(item),
  },
});

/** Measures one state change by state size, alone and in a governed call. */
export async function measureStateSize(extent: Extent = everything): Promise<TimeReport> {
  const states = sizes.filter((size) => size <= extent.largest).map((size) => new State(size));
  const rows = await compare(
    [
      ...states.map((state) => state.transactions('set', 'commit')),
      ...states.map((state) => state.transactions('set', 'rollback')),
      ...states.map((state) => state.transactions('add', 'commit')),
      ...states.map((state) => state.transactions('add', 'rollback')),
      ...states.map((state) => state.calls('ok')),
      ...states.map((state) => state.calls('failed')),
      ...states.map((state) => state.restores()),
      ...states.map((state) => state.setsAnywhere()),
      ...states.map((state) => state.plainMap()),
    ],
    { ...limitRounds({ rounds: 150, warmUpRounds: 30 }, extent), now: cpuNow },
  );
  const notes = [
    'CPU time of the process, all threads, by items in a keyed slice and in a list slice of one session, whose store keeps nothing.',
    `set: a transaction that sets one of the same ${hotKeys} items of the keyed slice. add: one that appends to the list.`,
    'call: a governed call that sets such an item. restore: sets one, then goes back to a snapshot taken before.',
    'anywhere: sets items all over the slice, so the caches of the machine miss; plain Map: the same on a `Map`.',
  ];
  return { name: 'call-path: state size', notes, rows };
}

/** Creates a session with that many items. */
class State {
  readonly #size: number;
  readonly #session: Session;
  /** The start of every sample, so that the size stays constant. */
  readonly #filled: SessionSnapshot;
  #count = 0;

  constructor(size: number) {
    this.#size = size;
    this.#session = createSession({ slices: [itemsByKey, itemList], store: forgettingStore });
    for (let from = 0; from < size; from += batch) {
      this.#session.dispatch({ type: 'filled', payload: { from, count: Math.min(batch, size - from) } });
    }
    this.#filled = this.#session.snapshot();
  }

  transactions(change: 'set' | 'add', ending: 'commit' | 'rollback'): Subject {
    const type = change === 'set' ? 'item-set' : 'item-added';
    return this.#subject(`${change}, ${ending}`, () => {
      const event = { type, payload: this.#nextItem() };
      if (ending === 'commit') return this.#session.dispatch(event);
      const transaction = this.#session.begin();
      transaction.dispatch(event);
      transaction.discard();
    });
  }

  calls(kind: 'ok' | 'failed'): Subject {
    const options = {
      tools: [kind === 'ok' ? setItem : failingSetItem],
      session: this.#session,
      policies: twoPolicies(setItem.name),
    };
    return this.#subject(`call, ${kind === 'ok' ? 'commit' : 'rollback'}`, async () => {
      const { id } = this.#nextItem();
      const outcome = await executeToolCall({ id: 'call', name: setItem.name, arguments: `{"id":${id}}` }, options);
      if (outcome.kind !== kind) throw new Error(`the call ended as \`${outcome.kind}\`, expected \`${kind}\``);
    });
  }

  restores(): Subject {
    return this.#subject('restore', () => {
      const snapshot = this.#session.snapshot();
      this.#session.dispatch({ type: 'item-set', payload: this.#nextItem() });
      this.#session.restore(snapshot);
    });
  }

  setsAnywhere(): Subject {
    return this.#subject(
      'anywhere',
      () => {
        this.#session.dispatch({ type: 'item-set', payload: doneItem((this.#next() * stride) % this.#size) });
      },
      noGoal,
    );
  }

  plainMap(): Subject {
    const plain = new Map(itemsOf({ from: 0, count: this.#size }).map((item) => [keyOf(item.id), item]));
    return this.#subject(
      'plain Map',
      () => {
        const item = doneItem((this.#next() * stride) % this.#size);
        plain.set(keyOf(item.id), item);
      },
      noGoal,
    );
  }

  #subject(
    name: string,
    operation: () => void | Promise<void>,
    goal: Pick<Against, 'goal'> = { goal: largestRatio },
  ): Subject {
    const [smallest] = sizes;
    return {
      name: `${name}, ${this.#size.toLocaleString('en')}`,
      operations,
      against: this.#size === smallest ? [] : [{ name: `${name}, ${smallest}`, ...goal }],
      prepare: () => {
        this.#session.restore(this.#filled);
        return async () => {
          for (let count = 0; count < operations; count += 1) {
            const done = operation();
            if (done !== undefined) await done;
          }
        };
      },
    };
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  /** The same number of distinct items at every size, so that only the rest differs. */
  #nextItem(): Item {
    return doneItem((this.#next() % hotKeys) * (this.#size / hotKeys));
  }
}

function doneItem(id: number): Item {
  return { id, title: `Item ${id}`, done: true };
}

/** Items of one event while a state is filled. */
const batch = 10_000;
// A prime: steps of it visit every key before repeating one.
const stride = 7_919;

const inputSchema = v.object({ id: v.pipe(v.number(), v.integer(), v.minValue(0)) });

const setItem: ExecutableTool<{ id: number }, Json> = defineTool({
  name: 'set_item',
  description: 'Mark an item as done.',
  inputSchema,
  effects: 'state',
  execute({ id }, { session }) {
    session.dispatch({ type: 'item-set', payload: { id, title: `Item ${id}`, done: true } });
    return toolOk({ id }, 'Done.');
  },
});

const failingSetItem: ExecutableTool<{ id: number }, Json> = defineTool({
  name: 'set_item',
  description: 'Mark an item as done.',
  inputSchema,
  effects: 'state',
  execute({ id }, { session }) {
    session.dispatch({ type: 'item-set', payload: { id, title: `Item ${id}`, done: true } });
    return toolError('The list is closed.', { value: { id } });
  },
});

/** Measures the state and not the log. */
const forgettingStore: SessionStore = { append: () => undefined, close: () => undefined };

function itemsOf({ from, count }: Span): Item[] {
  return Array.from({ length: count }, (_, index) => ({
    id: from + index,
    title: `Item ${from + index}`,
    done: false,
  }));
}

function keyOf(id: number): string {
  return `item-${id}`;
}
