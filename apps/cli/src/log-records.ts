import type { LogRecord } from '@holdfast/session';
import * as v from 'valibot';

const decision = v.object({
  policy: v.string(),
  type: v.picklist(['allow', 'ask', 'deny']),
  // With `exactOptionalPropertyTypes`, absent is not undefined.
  reason: v.exactOptional(v.string()),
});
const thrown = v.object({ name: v.string(), message: v.string() });

const shownRecord = v.variant('type', [
  v.object({
    type: v.literal('run-start'),
    model: v.string(),
    prompt: v.string(),
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
  v.object({ type: v.literal('tool-call-start'), callId: v.string(), name: v.string(), rawArguments: v.unknown() }),
  v.object({
    type: v.literal('tool-call-end'),
    callId: v.string(),
    name: v.string(),
    rawArguments: v.unknown(),
    decisions: v.array(decision),
    approval: v.optional(v.object({ type: v.picklist(['approve', 'deny']), by: v.string() })),
    outcome: v.object({
      kind: v.string(),
      code: v.optional(v.string()),
      message: v.string(),
      text: v.string(),
    }),
    writes: v.array(v.object({ key: v.string(), change: v.picklist(['created', 'changed', 'removed']) })),
    error: v.optional(thrown),
    abandoned: v.optional(v.boolean()),
    durationMs: v.number(),
  }),
  v.object({
    type: v.literal('approval-request'),
    pending: v.object({ callId: v.string(), name: v.string(), asks: v.array(decision) }),
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

/** A record that is shown, with the fields that are. */
export type ShownRecord = v.InferOutput<typeof shownRecord>;

// Says nothing that the records around it do not say too.
const silent: ReadonlySet<string> = new Set(['session-start', 'approval-answer']);

/** What of a record is shown; `undefined` when nothing is; the record itself when it is of a kind that is not known here. */
export function toShownRecord(
  record: LogRecord,
): { readonly known: ShownRecord } | { readonly unknown: LogRecord } | undefined {
  if (silent.has(record.type)) return undefined;
  const parsed = v.safeParse(shownRecord, record);
  return parsed.success ? { known: parsed.output } : { unknown: record };
}
