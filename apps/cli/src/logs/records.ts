import type { PolicyDecision } from '@holdfast/core';
import { isPlainObject, type RecordedOutcome, readOutcome } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';
import * as v from 'valibot';
import type { EndedWrites } from '../calls/changes.ts';
import type { ShownFeedback } from '../calls/feedback.ts';
import type { EndedCall, LateCall } from '../calls/line.ts';
import type { ShownMcpRecord } from './mcp-records.ts';
import { closedKinds, type ShownPlanRecord } from './plan-run.ts';

interface Thrown {
  readonly name: string;
  readonly message: string;
}

/** A record, reduced to the fields that are shown. */
export type ShownRecord =
  | {
      readonly type: 'run-start';
      readonly model: string;
      readonly input: string;
      readonly tools: readonly string[];
      readonly atMs: number;
    }
  | {
      readonly type: 'model-message';
      readonly turn: number;
      readonly text: string;
      readonly calls: readonly unknown[];
      readonly reason: string;
    }
  | { readonly type: 'run-resume'; readonly turn: number; readonly atMs: number }
  | ShownFeedback
  | ShownMcpRecord
  | ShownPlanRecord
  | {
      readonly type: 'approval-request';
      readonly pending: { readonly callId: string; readonly name: string; readonly expiresAtMs?: number | undefined };
    }
  | {
      readonly type: 'approval-answer';
      readonly callId: string;
      readonly answer: {
        readonly type: string;
        readonly grant?: boolean | undefined;
        readonly reason?: string | undefined;
      };
      readonly by?: string | undefined;
    }
  | {
      readonly type: 'call-resolution';
      readonly callId: string;
      readonly resolution: { readonly type: string; readonly value?: unknown; readonly message?: string | undefined };
      readonly by?: string | undefined;
    }
  | { readonly type: 'tool-call-start'; readonly callId: string; readonly name: string }
  | ShownCall
  | (LateCall & { readonly type: 'tool-call-late'; readonly callId: string })
  | { readonly type: 'resource-apply-failed'; readonly callId: string; readonly message: string }
  /** A problem outside a call's outcome, or with the session. */
  | { readonly type: ProblemType; readonly resource?: string | undefined; readonly message: string }
  | { readonly type: 'restore'; readonly toSeq: number }
  | { readonly type: 'reset' }
  | { readonly type: 'import'; readonly slices: readonly unknown[] }
  /** A record of a child session. */
  | {
      readonly type: 'child-event';
      readonly callId: string;
      readonly sessionId: string;
      readonly event: ShownRecord;
    }
  /** A record with an unknown type or shape. */
  | { readonly type: 'other'; readonly seq: number; readonly name: string }
  | {
      readonly type: 'event';
      readonly events: readonly { readonly type: string; readonly payload: unknown }[];
      readonly changes?: readonly unknown[] | undefined;
    }
  | {
      readonly type: 'run-end';
      readonly status: string;
      readonly text: string;
      readonly unfinished?: string | undefined;
      readonly turns: number;
      readonly error?: Thrown | undefined;
      readonly atMs: number;
    };

type ProblemType =
  | 'resource-recovery-failed'
  | 'resource-discard-failed'
  | 'resource-dispose-failed'
  | 'close-error'
  | 'subscriber-error';

/** The end of a call as recorded in a log. */
export interface ShownCall extends EndedCall, EndedWrites {
  readonly type: 'tool-call-end';
  readonly callId: string;
  readonly parentId?: string | undefined;
  readonly outcome: EndedCall['outcome'] & { readonly text: string };
  readonly abandoned?: boolean | undefined;
}

const decision: v.GenericSchema<unknown, PolicyDecision> = v.object({
  policy: v.string(),
  type: v.picklist(['allow', 'ask', 'deny']),
  reason: v.exactOptional(v.string()),
  grantable: v.exactOptional(v.literal(false)),
  observed: v.exactOptional(v.picklist(['ask', 'deny'])),
});
const thrown = v.object({ name: v.string(), message: v.string() });

const problem = { resource: v.optional(v.string()), message: v.string() };

const nodeId = v.union([v.string(), v.number()]);
const shownPlanRecords = [
  v.object({
    type: v.literal('plan-start'),
    document: v.object({ nodes: v.array(v.unknown()) }),
    digest: v.string(),
    request: v.optional(v.string()),
    atMs: v.number(),
  }),
  v.object({ type: v.literal('plan-resume'), atMs: v.number() }),
  v.object({
    type: v.literal('plan-node'),
    node: nodeId,
    kind: v.picklist(closedKinds),
    code: v.string(),
    message: v.string(),
    because: v.array(nodeId),
  }),
  v.object({ type: v.literal('plan-end'), status: v.string(), atMs: v.number() }),
] as const;

const shownMcpRecords = [
  v.object({ type: v.literal('guard-kept'), callId: v.string(), files: v.number(), left: v.array(v.string()) }),
  v.object({ type: v.literal('guard-undone'), callId: v.string(), files: v.array(v.string()) }),
  v.object({ type: v.literal('guard-noted'), server: v.string(), tool: v.string(), decidedIn: v.string() }),
  v.object({ type: v.literal('mcp-trace'), callId: v.string(), traceparent: v.string() }),
  v.object({ type: v.literal('mcp-question'), server: v.string(), message: v.string(), action: v.string() }),
  v.object({
    type: v.literal('mcp-refused'),
    reason: v.picklist(['no-access', 'tool-name', 'request-state', 'server-request']),
    server: v.optional(v.string()),
    method: v.optional(v.string()),
    name: v.optional(v.string()),
    count: v.optional(v.number()),
    last: v.optional(v.boolean()),
  }),
] as const;

const shownRecord: v.GenericSchema<unknown, ShownRecord> = v.variant('type', [
  v.object({
    type: v.literal('run-start'),
    model: v.string(),
    input: v.string(),
    tools: v.array(v.string()),
    atMs: v.number(),
  }),
  v.object({
    type: v.literal('model-message'),
    turn: v.number(),
    text: v.string(),
    calls: v.array(v.unknown()),
    reason: v.string(),
  }),
  ...shownPlanRecords,
  ...shownMcpRecords,
  v.object({ type: v.literal('run-resume'), turn: v.number(), atMs: v.number() }),
  v.object({
    type: v.literal('feedback'),
    given: v.array(v.object({ name: v.string(), text: v.string() })),
    failed: v.array(v.object({ name: v.string(), message: v.string() })),
  }),
  v.object({
    type: v.literal('approval-request'),
    pending: v.object({ callId: v.string(), name: v.string(), expiresAtMs: v.optional(v.number()) }),
  }),
  v.object({
    type: v.literal('approval-answer'),
    callId: v.string(),
    answer: v.object({ type: v.string(), grant: v.optional(v.boolean()), reason: v.optional(v.string()) }),
    by: v.optional(v.string()),
  }),
  v.object({
    type: v.literal('call-resolution'),
    callId: v.string(),
    resolution: v.object({ type: v.string(), value: v.optional(v.unknown()), message: v.optional(v.string()) }),
    by: v.optional(v.string()),
  }),
  v.object({ type: v.literal('tool-call-start'), callId: v.string(), name: v.string() }),
  v.object({
    type: v.literal('tool-call-end'),
    callId: v.string(),
    parentId: v.optional(v.string()),
    name: v.string(),
    rawArguments: v.unknown(),
    decisions: v.array(decision),
    approval: v.optional(v.object({ type: v.picklist(['approve', 'deny']), by: v.string() })),
    outcome: v.pipe(
      v.looseObject({
        kind: v.string(),
        code: v.optional(v.string()),
        reason: v.optional(v.string()),
        message: v.string(),
        attempts: v.optional(v.number()),
      }),
      v.transform(({ kind, code, reason, message, attempts, ...rest }) => {
        const { rendered, text } = readOutcome({ kind, message, ...rest } as unknown as RecordedOutcome);
        // A tool without output, or a log without content.
        const nothing = message === '' && rendered === '';
        return { kind, code, reason, message, text: nothing ? '' : text, attempts };
      }),
    ),
    writes: v.array(v.object({ key: v.string(), change: v.picklist(['created', 'changed', 'removed']) })),
    abandoned: v.optional(v.boolean()),
    durationMs: v.number(),
  }),
  v.object({
    type: v.literal('tool-call-late'),
    callId: v.string(),
    name: v.string(),
    answer: v.picklist(['returned', 'threw']),
    value: v.optional(v.unknown()),
    message: v.optional(v.string()),
  }),
  v.object({ type: v.literal('resource-apply-failed'), callId: v.string(), message: v.string() }),
  v.object({ type: v.literal('resource-recovery-failed'), ...problem }),
  v.object({ type: v.literal('resource-discard-failed'), ...problem }),
  v.object({ type: v.literal('resource-dispose-failed'), ...problem }),
  v.object({ type: v.literal('close-error'), ...problem }),
  v.object({ type: v.literal('subscriber-error'), ...problem }),
  v.object({ type: v.literal('restore'), toSeq: v.number() }),
  v.object({ type: v.literal('reset') }),
  v.object({ type: v.literal('import'), slices: v.array(v.unknown()) }),
  v.object({
    type: v.literal('event'),
    events: v.array(v.object({ type: v.string(), payload: v.unknown() })),
    changes: v.optional(v.array(v.unknown())),
  }),
  v.object({
    type: v.literal('run-end'),
    status: v.string(),
    text: v.string(),
    unfinished: v.optional(v.string()),
    turns: v.number(),
    error: v.optional(thrown),
    atMs: v.number(),
  }),
]);

// The records around them contain the same; slices are shown by `holdfast replay`, run options by `holdfast resume`.
const silent: ReadonlySet<string> = new Set(['session-start', 'slice', 'snapshot', 'run-options']);

// Deeper than calls can be nested; a forged log may be deeper.
const maxDepth = 64;

/** The shown part of a record; `undefined` if nothing is shown. */
export function toShownRecord(record: LogRecord, depth = 0): ShownRecord | undefined {
  if (silent.has(record.type)) return undefined;
  const other = { type: 'other', seq: record.seq, name: record.type } as const;
  if (record.type === 'child-record') {
    const { callId, sessionId, entry } = record;
    if (typeof callId !== 'string' || typeof sessionId !== 'string' || depth === maxDepth || !isEntry(entry))
      return other;
    const event = toShownRecord({ ...entry, seq: record.seq, atMs: Number(entry.atMs ?? record.atMs) }, depth + 1);
    return event && { type: 'child-event', callId, sessionId, event };
  }
  const parsed = v.safeParse(shownRecord, record);
  return parsed.success ? parsed.output : other;
}

function isEntry(json: unknown): json is LogRecord {
  return isPlainObject(json) && typeof json['type'] === 'string';
}
