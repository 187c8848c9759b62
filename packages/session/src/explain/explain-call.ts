import type { Json, PolicyDecision, ToolCallEndEvent } from '@holdfast/core';
import { readOutcome } from '@holdfast/core/internal';
import type { LogRecord } from '../log/log.ts';
import { type CallRecords, type CallTrail, readTrails, type Trails } from './call-trails.ts';

/** Everything that a log records about the calls of one id. JSON. */
export interface CallExplanation {
  readonly callId: string;
  /** All calls with this id, the latest last: a provider may reuse an id in another turn. Never empty. */
  readonly uses: readonly CallUse[];
}

/** One call. Every `seq` is a record number of the log. */
export interface CallUse extends CallRecords {
  /** `asked`: requested by the model, not started; `waiting` for a person; `begun` with no known end; `ended`. */
  readonly status: 'asked' | 'waiting' | 'begun' | 'ended';
  /** Of the latest authorization, one per policy, with its reason. */
  readonly decisions: readonly PolicyDecision[];
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
  const { run: _run, turn: _turn, lastSeq: _lastSeq, end, ...records } = trail;
  return {
    ...records,
    status: statusOf(trail),
    decisions: end?.decisions ?? records.approvals.at(-1)?.asks ?? [],
    ...(end === undefined ? {} : { end: { ...end, outcome: readOutcome(end.outcome) } }),
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
