/**
 * What is Holdfast's own in a record, and so neither secret nor content: `true` for a field that stays as it is, whatever it holds.
 * `name`, a tool's; `code`, of an error; `state`, of a slice; `record`, another record: see `redact-record.ts`. What is not named is
 * content.
 */
export type Own = true | 'name' | 'code' | 'state' | 'record' | OwnFields | readonly [OwnFields];

/** By name. */
export interface OwnFields {
  readonly [field: string]: Own;
}

const call = { callId: true, parentId: true, run: true, turn: true, name: 'name' } as const;
const usage = { inputTokens: true, outputTokens: true } as const;
const error = { name: 'code', code: 'code' } as const;
const decisions = [{ policy: true, type: true }] as const;
const answer = { type: true, grant: true } as const;
const pending = {
  ...call,
  dangerous: true,
  asks: decisions,
  digest: true,
  toolDigest: true,
  expiresAtMs: true,
} as const;
const changes = { nested: true, events: [{ type: true }], changes: [{ slice: true, op: true }] } as const;
const slice = { id: true, kind: true, retention: true, events: true, state: 'state' } as const;
const slices = [slice] as const;
const forkedFrom = { sessionId: true, seq: true } as const;
const open = {
  runs: true,
  calls: [
    {
      ...call,
      approvals: [{ pending, askedAtMs: true, answer, answeredAtMs: true, answeredBy: true }],
      start: { atMs: true, repeat: true, interrupted: true },
      resolution: { type: true },
    },
  ],
} as const;

/** By type of a record or of an event that observers get. */
export const ownFields: ReadonlyMap<string, OwnFields> = new Map<string, OwnFields>([
  ['session-start', { sessionId: true, forkedFrom, content: true, slices }],
  ['slice', slice],
  ['event', changes],
  ['restore', { toSeq: true, slices }],
  ['reset', {}],
  ['import', { slices }],
  ['snapshot', { sessionId: true, forkedFrom, content: true, slices, open }],
  ['close-error', {}],
  ['snapshot-failed', {}],
  ['subscriber-error', { recordSeq: true, event: true }],
  ['run-start', { sessionId: true, run: true, model: true, prompt: true, tools: true, atMs: true }],
  ['run-resume', { run: true, turn: true, atMs: true }],
  ['turn-start', { turn: true }],
  ['text-delta', { turn: true }],
  ['model-message', { run: true, turn: true, calls: [{ id: true, name: 'name' }], reason: true, usage }],
  ['run-end', { run: true, status: true, turns: true, usage, error, atMs: true }],
  ['tool-call-start', { ...call, repeat: true, atMs: true, inputDigest: true }],
  ['tool-call-progress', call],
  ['tool-call-beat', { ...call, atMs: true }],
  ['tool-call-late', { ...call, answer: true, atMs: true }],
  [
    'tool-call-end',
    {
      ...call,
      ...changes,
      decisions,
      approval: { type: true, by: true },
      outcome: { kind: true, callId: true, name: 'name', code: 'code' },
      writes: [{ resource: true, change: true }],
      mark: true,
      error,
      abandoned: true,
      startedAtMs: true,
      durationMs: true,
      inputDigest: true,
      valueDigest: true,
    },
  ],
  ['approval-request', { pending }],
  ['approval-answer', { ...call, digest: true, answer, by: true }],
  ['call-resolution', { ...call, resolution: { type: true }, by: true }],
  ['child-record', { callId: true, sessionId: true, childSeq: true, entry: 'record' }],
  ['child-event', { callId: true, sessionId: true, event: 'record' }],
  ['resource-discard-failed', { callId: true, resource: true }],
  ['resource-apply-failed', { callId: true, resource: true }],
  ['resource-dispose-failed', { callId: true, resource: true }],
  ['resource-recovery-failed', { resource: true, mark: true }],
]);
