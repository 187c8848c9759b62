import type { Json, KeyedState, ListState, Slice, Tool } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import type { SessionTransaction } from '@holdfast/session';
import { type PolicyQuestions, succeed } from './questions.ts';
import type { NamedCall } from './watch.ts';

const maxStates = 256;
const maxSuccesses = 50_000;
/** The limit on calls and edges visited for all questions of one policy: about two seconds. */
const maxSteps = 500_000_000;

/** Calls whose successes change the policy's state in the same way. */
interface Kind {
  readonly example: NamedCall;
  readonly members: readonly number[];
}

interface State {
  readonly value: unknown;
  readonly transaction: SessionTransaction;
  /** The minimum number of successes that lead to this state. */
  readonly depth: number;
  /** By kind: the state after its success; `undefined` if unknown. Empty if nothing else can succeed. */
  readonly next: (State | undefined)[];
}

/** The states a policy may be in before a call, for any subset and order of successful earlier calls. */
export interface PossibleStates {
  /** `undefined`: too many or unknown. */
  before(call: number): readonly unknown[] | undefined;
}

/**
 * Explores the successes of `calls`, kind by kind, from the state in `start`. Ignores their order and combination, so the result may
 * include states that no run reaches, but misses none. `undefined`: there are too many.
 */
export async function findStates(
  calls: readonly NamedCall[],
  { questions, slice, start, byCall }: Following,
): Promise<PossibleStates | undefined> {
  const kinds = toKinds(calls, byCall);
  const first: State = { value: start.read(slice), transaction: start, depth: 0, next: [] };
  const known = new Map<string, State>([[toText(slice, first.value), first]]);
  const states = [first];
  let successes = 0;
  // The list grows during the iteration.
  for (const state of states) {
    // At most all other calls have succeeded.
    if (state.depth >= calls.length - 1) break;
    successes += kinds.length;
    if (states.length > maxStates || successes > maxSuccesses) return undefined;
    for (const { example, members } of kinds) {
      const transaction = state.transaction.begin();
      const { type, own } = await succeed(example, { questions, slice, transaction });
      if (type === 'unknown' || (own && members.length > 1)) {
        state.next.push(undefined);
        continue;
      }
      const value: unknown = type === 'same' ? state.value : transaction.read(slice);
      const text = type === 'same' ? undefined : questions.timed(() => toText(slice, value));
      let next = text === undefined ? state : known.get(text);
      if (text !== undefined && next === undefined) {
        next = { value, transaction, depth: state.depth + 1, next: [] };
        known.set(text, next);
        states.push(next);
      }
      state.next.push(next);
    }
  }
  return restrict(states, kinds, calls);
}

export interface Following {
  readonly questions: PolicyQuestions;
  /** The slice of the policy's state. */
  readonly slice: Slice;
  readonly start: SessionTransaction;
  /** Tools whose calls may change the state in different ways. */
  readonly byCall: ReadonlySet<Tool>;
}

function toKinds(calls: readonly NamedCall[], byCall: ReadonlySet<Tool>): readonly Kind[] {
  const single: Kind[] = [];
  const byTool = new Map<Tool, { readonly example: NamedCall; readonly members: number[] }>();
  for (const [at, call] of calls.entries()) {
    const same = byTool.get(call.tool);
    if (byCall.has(call.tool)) single.push({ example: call, members: [at] });
    else if (same === undefined) byTool.set(call.tool, { example: call, members: [at] });
    else same.members.push(at);
  }
  return [...single, ...byTool.values()];
}

/** Excludes, for each call, states that are reachable only after it. */
function restrict(states: readonly State[], kinds: readonly Kind[], calls: readonly NamedCall[]): PossibleStates {
  const reached = new Map<string, readonly unknown[] | undefined>();
  const edges = calls.reduce((sum, { after }) => sum + 1 + after.length, 0);
  let steps = 0;
  return {
    before(call) {
      steps += edges;
      if (steps > maxSteps) return undefined;
      const isLater = markLater(calls, call);
      const allowed = [...kinds.keys()].filter((kind) => kinds[kind]?.members.some((member) => isLater[member] !== 1));
      const key = allowed.join();
      if (!reached.has(key)) reached.set(key, reach(states, allowed));
      return reached.get(key);
    },
  };
}

/** 1 for the call itself and for each call that depends on it, directly or indirectly. */
function markLater(calls: readonly NamedCall[], call: number): Uint8Array {
  const isLater = new Uint8Array(calls.length);
  isLater[call] = 1;
  for (let later = call + 1; later < calls.length; later += 1) {
    for (const before of calls[later]?.after ?? []) if (isLater[before] === 1) isLater[later] = 1;
  }
  return isLater;
}

function reach([first]: readonly State[], kinds: readonly number[]): readonly unknown[] | undefined {
  const reached = new Set(first === undefined ? [] : [first]);
  // The set grows during the iteration.
  for (const state of reached) {
    if (state.next.length === 0) continue;
    for (const kind of kinds) {
      const next = state.next[kind];
      if (next === undefined) return undefined;
      reached.add(next);
    }
  }
  return [...reached].map(({ value }) => value);
}

/** Equal texts for equal states. */
function toText({ kind }: Slice, state: unknown): string {
  // In the form in which the session holds a slice of this kind.
  switch (kind) {
    case 'value':
      return toCanonicalJson(state as Json);
    case 'list':
      return toCanonicalJson((state as ListState<Json>).toArray());
    case 'keyed':
      return toCanonicalJson((state as KeyedState<Json>).toObject());
  }
}
