import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogEntry } from '../log/log.ts';

/**
 * Marks the fields of a record that are Holdfast's own, and so neither secret nor content: `true` for a field that is kept whatever it
 * holds; `name`, a tool's; `code`, of an error; `digest`, of arguments too; `state`, of a slice; `record`, another record (see
 * `record.ts`). `text`, `json` and `object` are content that leaves an empty text, null or an empty object, because readers expect the
 * field. Unlisted fields are content.
 */
export type Own =
  | true
  | 'name'
  | 'code'
  | 'digest'
  | 'text'
  | 'json'
  | 'object'
  | 'state'
  | 'record'
  | OwnFields
  | readonly [OwnFields];

/** By name. */
export interface OwnFields {
  readonly [field: string]: Own;
}

const call = { callId: true, parentId: true, run: true, turn: true, name: 'name' } as const;
const usage = { inputTokens: true, outputTokens: true } as const;
const error = { name: 'code', message: 'text', code: 'code' } as const;
const failed = { message: 'text' } as const;
const decisions = [{ policy: true, type: true, code: true, grantable: true, observed: true }] as const;
const answer = { type: true, grant: true } as const;
const pending = {
  ...call,
  input: 'json',
  dangerous: true,
  asks: decisions,
  digest: 'digest',
  toolDigest: true,
  expiresAtMs: true,
} as const;
const omitted = { length: true, digest: 'digest' } as const;
const changed = [{ slice: true, op: true }] as const;
const changes = {
  nested: true,
  events: [{ type: true, payload: 'json' }],
  changes: changed,
} as const;
const slice = { id: true, kind: true, retention: true, events: true, state: 'state' } as const;
const slices = [slice] as const;
const forkedFrom = { sessionId: true, seq: true } as const;
const node = {
  id: true,
  tool: 'name',
  function: true,
  inputs: 'object',
  depends_on: true,
  retry: true,
  timeout: true,
  on_fail: true,
  metadata: 'object',
} as const;
const document = { version: true, status: true, nodes: [node], final_output_node: true } as const;
const open = {
  runs: true,
  plans: [{ run: true, seq: true, suspended: true, digest: 'digest' }],
  calls: [
    {
      ...call,
      approvals: [{ pending, askedAtMs: true, answer, answeredAtMs: true, answeredBy: true }],
      start: {
        atMs: true,
        input: 'json',
        repeat: true,
        interrupted: true,
        reserved: [{ callId: true, changes: changed }],
      },
      resolution: { type: true },
    },
  ],
  staged: true,
} as const;

/** By type of a record or of an event for observers. */
export const ownFields: ReadonlyMap<string, OwnFields> = new Map<string, OwnFields>([
  ['session-start', { sessionId: true, nonce: true, forkedFrom, content: true, slices }],
  ['slice', slice],
  ['event', changes],
  ['restore', { toSeq: true, slices }],
  ['reset', {}],
  ['import', { slices }],
  ['snapshot', { sessionId: true, nonce: true, forkedFrom, content: true, slices, open }],
  ['close-error', failed],
  ['snapshot-failed', failed],
  ['subscriber-error', { ...failed, recordSeq: true, event: true }],
  ['run-start', { sessionId: true, run: true, model: true, prompt: true, input: 'text', tools: true, atMs: true }],
  ['run-resume', { run: true, turn: true, atMs: true }],
  ['turn-start', { turn: true }],
  ['text-delta', { turn: true, text: 'text' }],
  [
    'model-message',
    {
      run: true,
      turn: true,
      text: 'text',
      calls: [{ id: true, name: 'name', arguments: 'json', omitted }],
      reason: true,
      usage,
    },
  ],
  [
    'run-end',
    { run: true, status: true, text: 'text', turns: true, usage, error, unfinished: 'text', cut: true, atMs: true },
  ],
  ['plan-start', { sessionId: true, plan: true, document, digest: 'digest', request: 'text', atMs: true }],
  ['plan-resume', { plan: true, atMs: true }],
  ['plan-node', { plan: true, node: true, kind: true, code: 'code', message: 'text', because: true, atMs: true }],
  ['plan-end', { plan: true, status: true, atMs: true }],
  ['tool-call-start', { ...call, input: 'json', repeat: true, reserved: changed, atMs: true, inputDigest: true }],
  ['tool-call-progress', { ...call, ...failed }],
  ['tool-call-beat', { ...call, atMs: true }],
  ['tool-call-retry', { ...call, ...failed, attempt: true, code: 'code', delayMs: true, atMs: true }],
  ['tool-call-late', { ...call, answer: true, atMs: true }],
  [
    'tool-call-end',
    {
      ...call,
      ...changes,
      rawArguments: 'json',
      omitted,
      input: 'json',
      decisions,
      approval: { type: true, by: true },
      outcome: {
        kind: true,
        callId: true,
        name: 'name',
        code: 'code',
        message: 'text',
        value: 'json',
        rendered: 'text',
        text: 'text',
        excluded: true,
        maxResultChars: true,
        attempts: true,
      },
      writes: [{ resource: true, key: 'text', change: true }],
      mark: true,
      error,
      retries: [{ code: 'code', message: 'text', atMs: true }],
      abandoned: true,
      startedAtMs: true,
      durationMs: true,
      waitedMs: true,
      inputDigest: true,
      valueDigest: true,
    },
  ],
  [
    'feedback',
    {
      ...changes,
      run: true,
      turn: true,
      source: true,
      prompt: true,
      calls: true,
      given: [{ name: true, text: 'text' }],
      failed: [{ name: true, message: 'text' }],
    },
  ],
  ['approval-request', { pending }],
  ['approval-answer', { ...call, digest: 'digest', answer, by: true }],
  ['call-resolution', { ...call, resolution: { type: true }, by: true }],
  ['child-record', { callId: true, sessionId: true, childSeq: true, entry: 'record' }],
  ['child-event', { callId: true, sessionId: true, event: 'record' }],
  ['resource-discard-failed', { ...failed, callId: true, resource: true }],
  ['resource-apply-failed', { ...failed, callId: true, resource: true }],
  ['resource-dispose-failed', { ...failed, callId: true, resource: true }],
  ['resource-recovery-failed', { ...failed, resource: true, mark: true }],
  ['resources-staged', { ...call, mark: true, host: true, resources: true }],
  ['resources-settled', { mark: true, resources: true }],
  ['resources-abandoned', { host: true }],
]);

export function isList(own: Exclude<Own, string | true>): own is readonly [OwnFields] {
  return Array.isArray(own);
}

export function isEntry(json: Json): json is LogEntry {
  return isPlainObject(json) && typeof json['type'] === 'string';
}
