import { type Json, type KeyedState, type ListState, type Slice, type Tool, toCanonicalJson } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { type PolicyQuestions, succeed } from './questions.ts';
import type { ExpectedCall, NamedCall } from './watch.ts';

const maxStates = 256;
const maxSuccesses = 50_000;
/** Bits of a mask. */
const maxKinds = 30;

/** Calls whose successes do the same to the state of a policy. */
interface Kind {
  readonly example: NamedCall;
  readonly members: readonly number[];
}

interface State {
  readonly value: unknown;
  readonly transaction: SessionTransaction;
  /** Successes that it takes to come here, at least. */
  readonly depth: number;
  /** By kind, where its success leads; `undefined`: that is not known. Empty: nothing succeeds any more. */
  readonly next: (State | undefined)[];
}

/** The states that a policy can be in before a call is made, whichever of the calls before it succeed, and in whatever order. */
export interface PossibleStates {
  /** `undefined`: they are too many, or not known. */
  before(call: number): readonly unknown[] | undefined;
}

/**
 * Follows the successes of `calls`, kind by kind, from the state in `start` on. In which order they come, and which of them, is left open, so
 * there may be states in what is found that no run comes to, and none is missing. `undefined`: there are too many.
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
  // The list grows while it is walked.
  for (const state of states) {
    // All but the one that is asked about have succeeded.
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
  /** Holds the policy's state. */
  readonly slice: Slice;
  readonly start: SessionTransaction;
  /** Tools of which the success of one call does not tell what that of another does. */
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

/** Leaves out, for each call, what can only happen after it. */
function restrict(
  states: readonly State[],
  kinds: readonly Kind[],
  calls: readonly NamedCall[],
): PossibleStates | undefined {
  const moving = groupMoving(states, kinds);
  if (moving.length > maxKinds) return undefined;
  const isFirst = moving.map(({ members }) => findFirst(calls, members));
  const byMask = new Map<number, readonly unknown[] | undefined>();
  return {
    before(call) {
      let mask = 0;
      for (const [bit, isBefore] of isFirst.entries()) if (!isBefore(call)) mask |= 1 << bit;
      if (!byMask.has(mask)) {
        const allowed = moving.flatMap(({ kind }, bit) => ((mask & (1 << bit)) === 0 ? [] : [kind]));
        byMask.set(mask, reach(states, allowed));
      }
      return byMask.get(mask);
    },
  };
}

interface Moving {
  /** One of those that do the same. */
  readonly kind: number;
  readonly members: readonly number[];
}

/** The kinds that change the state somewhere; those that do the same everywhere together. */
function groupMoving(states: readonly State[], kinds: readonly Kind[]): readonly Moving[] {
  const followed = states.filter(({ next }) => next.length > 0);
  const places = new Map(states.map((state, place) => [state, place]));
  const groups = new Map<string, { readonly kind: number; readonly members: number[] }>();
  for (const [kind, { members }] of kinds.entries()) {
    if (followed.every((state) => state.next[kind] === state)) continue;
    const text = followed.map(({ next: { [kind]: next } }) => (next === undefined ? '?' : places.get(next))).join();
    const same = groups.get(text);
    if (same === undefined) groups.set(text, { kind, members: [...members] });
    else for (const member of members) same.members.push(member);
  }
  return [...groups.values()];
}

function reach([first]: readonly State[], kinds: readonly number[]): readonly unknown[] | undefined {
  const reached = new Set(first === undefined ? [] : [first]);
  // The set grows while it is walked.
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

/** Equal for equal states. */
function toText({ kind }: Slice, state: unknown): string {
  // As the session holds it for a slice of that kind.
  switch (kind) {
    case 'value':
      return toCanonicalJson(state as Json);
    case 'list':
      return toCanonicalJson((state as ListState<Json>).toArray());
    case 'keyed':
      return toCanonicalJson((state as KeyedState<Json>).toObject());
  }
}

type Waiting = Pick<ExpectedCall, 'after'>;

/** As many calls as an integer has bits are followed in one pass. */
const bits = 32;
const maxPasses = 32;

/**
 * For each call, whether none of `members` can end before it begins: each of them is the call itself, or waits for it. Where more than
 * 1,024 members wait for no other one, that is said of no call.
 */
export function findFirst(calls: readonly Waiting[], members: readonly number[]): (call: number) => boolean {
  const foremost = findForemost(calls, members);
  if (foremost.length > bits * maxPasses) return () => false;
  let first: Uint8Array | undefined;
  for (let start = 0; start < foremost.length; start += bits) {
    const batch = foremost.slice(start, start + bits);
    const whole = batch.length === bits ? -1 : (1 << batch.length) - 1;
    const reached = new Int32Array(calls.length);
    for (const [bit, member] of batch.entries()) reached[member] = 1 << bit;
    // Whoever waits comes later, and has been counted.
    for (let call = calls.length - 1; call >= 0; call -= 1) {
      const mask = reached[call] ?? 0;
      if (mask !== 0) for (const before of calls[call]?.after ?? []) reached[before] = (reached[before] ?? 0) | mask;
    }
    const kept = first;
    first = Uint8Array.from(reached, (mask, call) => (mask === whole && kept?.[call] !== 0 ? 1 : 0));
    if (!first.includes(1)) return () => false;
  }
  return (call) => first?.[call] === 1;
}

/** The members that wait for no other: whoever comes before these comes before all. */
function findForemost(calls: readonly Waiting[], members: readonly number[]): readonly number[] {
  const isMember = new Set(members);
  const waits = new Uint8Array(calls.length);
  for (const [call, { after }] of calls.entries()) {
    if (after.some((before) => waits[before] === 1 || isMember.has(before))) waits[call] = 1;
  }
  return members.filter((member) => waits[member] === 0);
}
