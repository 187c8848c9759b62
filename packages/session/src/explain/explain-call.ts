import type {
  ApprovalAnswer,
  EffectCheck,
  Json,
  PolicyDecision,
  ToolCallEndEvent,
  ToolCallLateEvent,
} from '@holdfast/core';
import { readOutcome } from '@holdfast/core/internal';
import type { LogRecord } from '../log/log.ts';
import { type CallTrail, readTrails, type Trails } from './call-trails.ts';

/** Everything that a log knows of the calls of one id. JSON. */
export interface CallExplanation {
  readonly callId: string;
  /** Every time that the id was used, the last one last: a provider may use an id again in another turn. Never empty. */
  readonly uses: readonly CallUse[];
}

/** One call. Every `seq` is the number of a record of the log. */
export interface CallUse {
  readonly callId: string;
  readonly name: string;
  /** The session of `context.child()` in which it was made; absent for the session of the log. */
  readonly sessionId?: string;
  /** The call that it is nested in. */
  readonly parentId?: string;
  /** `asked` for by the model and not come to yet, `waiting` for a person, `begun` with no known end, or `ended`. */
  readonly status: 'asked' | 'waiting' | 'begun' | 'ended';
  /** The message of the model that asked for it. */
  readonly message?: { readonly seq: number; readonly turn: number; readonly text: string; readonly arguments: Json };
  /** Of every policy that was asked last, with its reason. */
  readonly decisions: readonly PolicyDecision[];
  /** What a person was asked, in order, and the answer. */
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
  /** What a person said of its effect, after its process had ended under it. */
  readonly resolution?: {
    readonly seq: number;
    readonly atMs: number;
    readonly resolution: EffectCheck;
    readonly by?: string;
  };
  /** Written before a tool touched the world. */
  readonly start?: { readonly seq: number; readonly atMs: number; readonly input: Json };
  /** The end event as it was recorded, with the texts of its outcome. */
  readonly end?: ToolCallEndEvent & { readonly seq: number; readonly atMs: number };
  /** What an abandoned tool came to after the end. */
  readonly late?: ToolCallLateEvent & { readonly seq: number };
  /** What went wrong with its resources beside its outcome. */
  readonly problems: readonly { readonly seq: number; readonly type: string; readonly message: string }[];
  /** Calls that it made, also in sessions of `context.child()`, in the order of their ends. */
  readonly nested: readonly CallUse[];
  readonly changed: {
    /**
     * Whether that became part of the state: not unless the call ended as `ok`, or policies have reserved it for a call that does
     * not, and the one that it is nested in ended as `ok`.
     */
    readonly kept: boolean;
    readonly events: ToolCallEndEvent['events'];
    readonly changes: readonly Json[];
    readonly writes: ToolCallEndEvent['writes'];
  };
}

/**
 * Tells why a call was allowed, asked for or denied, how it ended and what it changed: all that the records say of `callId`.
 * `undefined` when they do not know it.
 */
export function explainCall(records: readonly LogRecord[], callId: string): CallExplanation | undefined {
  const trails = readTrails(records);
  const uses = trails.of(callId);
  if (uses.length === 0) return undefined;
  return { callId, uses: uses.map((trail) => toUse(trail, trails, 1)) };
}

/** Far more than calls can be nested; a log that somebody has edited may tell of any depth, or of calls within each other. */
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
    // What policies have reserved is kept of a call that is no success, too; of what is nested in it nothing else is.
    const counts = current === trail && (current.end.changes?.length ?? 0) > 0;
    if (current.end.outcome.kind !== 'ok' && !counts) return false;
    // In a session of `context.child()` as well, what was written counts with the call that opened it.
    if (current.parentId === undefined) return true;
    met.add(current);
  }
  return false;
}
