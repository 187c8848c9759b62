import {
  defineSlice,
  type Json,
  type KeyedState,
  type Operation,
  remove,
  type Schema,
  type Slice,
  upsert,
} from '@holdfast/core';
import { sha256, toCanonicalJson } from '@holdfast/core/internal';
import * as v from 'valibot';
import type { GuardedCall } from './types.ts';

/** Decisions kept in memory and log, so that a call reported twice is decided once. */
const kept = 2000;
const dropped = 1000;

/** The decision about a call of an agent. */
export type GuardDecision = {
  /** Id of the call in our session. */
  readonly callId: string;
  /** Of tool, input and folder. */
  readonly digest: string;
  /** Of tool and input: a report carries these. */
  readonly inputDigest: string;
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly reason?: string;
  readonly code?: string;
  readonly name: string;
  readonly folder?: string;
  readonly workspace?: string;
  readonly agent?: string;
  readonly mode?: string;
  /** An ask that was handed to the agent's own person. */
  readonly askedBy?: 'agent';
  /** Its body was started by a host that asked for its release. */
  readonly begun?: true;
  readonly atMs: number;
};

const text = v.string();
const decision: Schema<GuardDecision> = v.object({
  callId: text,
  digest: text,
  inputDigest: text,
  verdict: v.picklist(['allow', 'deny', 'ask']),
  reason: v.exactOptional(text),
  code: v.exactOptional(text),
  name: text,
  folder: v.exactOptional(text),
  workspace: v.exactOptional(text),
  agent: v.exactOptional(text),
  mode: v.exactOptional(text),
  askedBy: v.exactOptional(v.literal('agent')),
  begun: v.exactOptional(v.literal(true)),
  atMs: v.number(),
});

type Decided = { readonly key: string } & GuardDecision;

/** By the agent's name for the call. */
export const decisions: Slice<KeyedState<GuardDecision>> = defineSlice<GuardDecision>({
  id: 'guard/decisions',
  kind: 'keyed',
  retention: 'log',
  schema: decision,
  reducers: {
    'guard-decided': (state: KeyedState<GuardDecision>, payload: Json): readonly Operation[] => {
      const { key, ...item } = payload as Decided;
      const old = state.size < kept ? [] : oldest(state);
      return [...old.map((name) => remove(name)), upsert(key, item)];
    },
    'guard-begun': (state: KeyedState<GuardDecision>, payload: Json): readonly Operation[] => {
      const { key } = payload as Pick<Decided, 'key'>;
      const item = state.get(key);
      return item === undefined ? [] : [upsert(key, { ...item, begun: true })];
    },
  },
});

function oldest(state: KeyedState<GuardDecision>): readonly string[] {
  return [...state]
    .sort(([, left], [, right]) => left.atMs - right.atMs)
    .slice(0, dropped)
    .map(([key]) => key);
}

/** The agent's name for a call: ids are unique in a sub-agent. */
export function toKey(id: string, subAgentId: string | undefined): string {
  return subAgentId === undefined ? id : `${subAgentId}/${id}`;
}

/** Equal for a repeated event and for a second call that asks for the same thing. */
export function digestCall({ name, input, cwd }: GuardedCall): string {
  // In the order of keys that the canonical text has.
  return digest(cwd === undefined ? { input, name } : { cwd, input, name });
}

export function digestInput(name: string, input: Json): string {
  return digest({ input, name });
}

/** The last digests, by text: a call is told several times, and hashing is a third of the time that it takes. */
const lastDigests = new Map<string, string>();
const lastCount = 16;
const lastLength = 10_000;

function digest(value: Json): string {
  const text = toCanonicalJson(value);
  const known = lastDigests.get(text);
  if (known !== undefined) return known;
  const made = sha256(text);
  if (text.length > lastLength) return made;
  const [first] = lastDigests.keys();
  if (first !== undefined && lastDigests.size >= lastCount) lastDigests.delete(first);
  lastDigests.set(text, made);
  return made;
}
