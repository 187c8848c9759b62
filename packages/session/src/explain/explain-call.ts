import type { ApprovalAnswer, Json, PolicyDecision, ToolCallEndEvent } from '@holdfast/core';
import { readOutcome } from '@holdfast/core/internal';
import type { EffectCheck, ToolCallLateEvent } from '@holdfast/core/types';
import type { LogRecord } from '../log/log.ts';
import { type CallTrail, readTrails, type Trails } from './call-trails.ts';

/** Everything that a log records about the calls of one id. JSON. */
export interface CallExplanation {
  readonly callId: string;
  /** All calls with this id, the latest last: a provider may reuse an id in another turn. Never empty. */
  readonly uses: readonly CallUse[];
}

/** One call. Every `seq` is a record number of the log. */
export interface CallUse {
  readonly callId: string;
  readonly name: string;
  /** The `context.child()` session of the call; absent for the log's own session. */
  readonly sessionId?: string;
  /** The call that it is nested in. */
  readonly parentId?: string;
  /** `asked`: requested by the model, not started; `waiting` for a person; `begun` with no known end; `ended`. */
  readonly status: 'asked' | 'waiting' | 'begun' | 'ended';
  /** The model message that requested it. */
  readonly message?: { readonly seq: number; readonly turn: number; readonly text: string; readonly arguments: Json };
  /** Of the latest authorization, one per policy, with its reason. */
  readonly decisions: readonly PolicyDecision[];
  /** Questions to a person in order, with their answers. */
  readonly approvals: readonly {
    readonly seq: number;
    readonly atMs: number;
    readonly asks: readonly PolicyDecision[];
    readonly answer?: {
      readonly seq: number;
      readonly atMs: number;
      readonly answer: ApprovalAnswer;
      readonly by?: string;
    };
  }[];
  /** A person's statement about the effect, after the process had ended. */
  readonly resolution?: {
    readonly seq: number;
    readonly atMs: number;
    readonly resolution: EffectCheck;
    readonly by?: string;
  };
  /** Written before a tool with effects ran. */
  readonly start?: { readonly seq: number; readonly atMs: number; readonly input: Json };
  /** The recorded end event, with the texts of its outcome. */
  readonly end?: ToolCallEndEvent & { readonly seq: number; readonly atMs: number };
  /** Result of an abandoned tool after the end. */
  readonly late?: ToolCallLateEvent & { readonly seq: number };
  /** Failures of its resources, apart from its outcome. */
  readonly problems: readonly { readonly seq: number; readonly type: string; readonly message: string }[];
  /** Calls that it made, including in `context.child()` sessions, in the order of their ends. */
  readonly nested: readonly CallUse[];
  readonly changed: {
    /**
     * True if the changes became part of the state: the call and all calls around it ended as `ok`, or policies reserved the changes
     * for a call that did not.
     */
    readonly kept: boolean;
    readonly events: ToolCallEndEvent['events'];
    readonly changes: readonly Json[];
    readonly writes: ToolCallEndEvent['writes'];
  };
}

/**
 * Explains why a call was allowed, sent for approval or denied, how it ended and what it changed, from the records of `callId`.
 * `undefined` if the log has no such call.
 */
export function explainCall(records: readonly LogRecord[], callId: string): CallExplanation | undefined {
  const trails = readTrails(records);
  const uses = trails.of(callId);
  if (uses.length === 0) return undefined;
  return { callId, uses: uses.map((trail) => toUse(trail, trails, 1)) };
}

/** Far deeper than calls nest; an edited log may claim any depth, or cycles. */
const maxDepth = 100;

function toUse(trail: CallTrail, trails: Trails, depth: number): CallUse {
  const { callId, name, sessionId, parentId, message, approvals, resolution, start, end, late, problems } = trail;
  const asked = approvals.at(-1);
  return {
    callId,
    name,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(parentId === undefined ? {} : { parentId }),
    status: statusOf(trail),
    ...(message === undefined ? {} : { message }),
    decisions: end?.decisions ?? asked?.asks ?? [],
    approvals,
    ...(resolution === undefined ? {} : { resolution }),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end: { ...end, outcome: readOutcome(end.outcome) } }),
    ...(late === undefined ? {} : { late }),
    problems,
    nested: depth < maxDepth ? trails.nestedIn(trail).map((nested) => toUse(nested, trails, depth + 1)) : [],
    changed: {
      kept: isKept(trail, trails),
      events: end?.events ?? [],
      changes: end?.changes ?? [],
      writes: end?.writes ?? [],
    },
  };
}

function statusOf({ end, start, approvals }: CallTrail): CallUse['status'] {
  if (end !== undefined) return 'ended';
  if (start !== undefined) return 'begun';
  return approvals.length > 0 ? 'waiting' : 'asked';
}

function isKept(trail: CallTrail, trails: Trails): boolean {
  const met = new Set<CallTrail>();
  for (let current: CallTrail | undefined = trail; current !== undefined; current = trails.parentOf(current)) {
    if (current.end === undefined || met.has(current)) return false;
    // Reservations of policies outlive a failed call; nothing else nested in it does.
    const counts = current === trail && (current.end.changes?.length ?? 0) > 0;
    if (current.end.outcome.kind !== 'ok' && !counts) return false;
    // Writes of a `context.child()` session count with the call that opened it.
    if (current.parentId === undefined) return true;
    met.add(current);
  }
  return false;
}
