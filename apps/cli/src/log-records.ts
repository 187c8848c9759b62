import type { PolicyDecision } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import * as v from 'valibot';
import type { EndedCall } from './call-line.ts';
import type { EndedWrites } from './changes.ts';

interface Thrown {
  readonly name: string;
  readonly message: string;
}

/** A record that is shown, with the fields that are. */
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
  | { readonly type: 'tool-call-start'; readonly callId: string; readonly name: string }
  | ShownCall
  | { readonly type: 'resource-apply-failed'; readonly callId: string; readonly message: string }
  | { readonly type: 'event'; readonly events: readonly { readonly type: string; readonly payload: unknown }[] }
  | {
      readonly type: 'run-end';
      readonly status: string;
      readonly text: string;
      readonly turns: number;
      readonly error?: Thrown | undefined;
      readonly atMs: number;
    };

/** The end of a call, as a log has it. */
export interface ShownCall extends EndedCall, EndedWrites {
  readonly type: 'tool-call-end';
  readonly callId: string;
  readonly outcome: EndedCall['outcome'] & { readonly text: string };
  readonly abandoned?: boolean | undefined;
}

const decision: v.GenericSchema<unknown, PolicyDecision> = v.object({
  policy: v.string(),
  type: v.picklist(['allow', 'ask', 'deny']),
  reason: v.exactOptional(v.string()),
});
const thrown = v.object({ name: v.string(), message: v.string() });

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
  v.object({ type: v.literal('tool-call-start'), callId: v.string(), name: v.string() }),
  v.object({
    type: v.literal('tool-call-end'),
    callId: v.string(),
    name: v.string(),
    rawArguments: v.unknown(),
    decisions: v.array(decision),
    approval: v.optional(v.object({ type: v.picklist(['approve', 'deny']), by: v.string() })),
    outcome: v.object({ kind: v.string(), code: v.optional(v.string()), message: v.string(), text: v.string() }),
    writes: v.array(v.object({ key: v.string(), change: v.picklist(['created', 'changed', 'removed']) })),
    abandoned: v.optional(v.boolean()),
    durationMs: v.number(),
  }),
  v.object({ type: v.literal('resource-apply-failed'), callId: v.string(), message: v.string() }),
  v.object({
    type: v.literal('event'),
    events: v.array(v.object({ type: v.string(), payload: v.unknown() })),
  }),
  v.object({
    type: v.literal('run-end'),
    status: v.string(),
    text: v.string(),
    turns: v.number(),
    error: v.optional(thrown),
    atMs: v.number(),
  }),
]);

// What they say, the records around them say too.
const silent: ReadonlySet<string> = new Set(['session-start', 'approval-request', 'approval-answer']);

/** What of a record is shown; `undefined` when nothing is; the record itself when it is of a kind that is not known here. */
export function toShownRecord(
  record: LogRecord,
): { readonly known: ShownRecord } | { readonly unknown: LogRecord } | undefined {
  if (silent.has(record.type)) return undefined;
  const parsed = v.safeParse(shownRecord, record);
  return parsed.success ? { known: parsed.output } : { unknown: record };
}
