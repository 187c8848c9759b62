import type { KeyedState, Operation, SessionEvent, SessionReader, Slice } from '@holdfast/core';
import type { ToolSession } from '@holdfast/core/types';

/** A minimal session: keyed slices, changed by events. */
export interface TestSession extends Pick<ToolSession, 'read' | 'dispatch'> {
  /** How often any slice was read. */
  readonly reads: number;
  readonly events: readonly SessionEvent[];
}

export function testSession(...slices: readonly Slice[]): TestSession {
  const states = new Map<Slice, Map<string, unknown>>(slices.map((slice) => [slice, new Map()]));
  const events: SessionEvent[] = [];
  let reads = 0;
  return {
    get reads() {
      return reads;
    },
    events,
    // The slices of these tests are keyed.
    read: ((slice: Slice) => {
      reads += 1;
      return toKeyed(states.get(slice) ?? new Map());
    }) as SessionReader['read'],
    dispatch(event) {
      let handled = false;
      for (const [slice, state] of states) {
        const answer = slice.reducers.get(event.type)?.(toKeyed(state) as never, event.payload);
        if (answer === undefined) continue;
        handled = true;
        const next = new Map(state);
        for (const operation of [answer].flat() as readonly Operation[]) apply(operation, next);
        states.set(slice, next);
      }
      if (!handled) throw new Error(`nothing listens to ${event.type}`);
      events.push(event);
    },
  };
}

function apply(operation: Operation, state: Map<string, unknown>): void {
  if (operation.op === 'upsert') state.set(operation.key, operation.item);
  else if (operation.op === 'remove') state.delete(operation.key);
  else throw new Error(`these tests have no ${operation.op}`);
}

function toKeyed(state: ReadonlyMap<string, unknown>): KeyedState<unknown> {
  return {
    size: state.size,
    get: (key) => state.get(key),
    has: (key) => state.has(key),
    toObject: () => Object.fromEntries(state),
    [Symbol.iterator]: () => state[Symbol.iterator](),
  };
}
