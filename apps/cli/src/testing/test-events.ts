import type { Json, OutcomeKind, PendingApproval, ToolCallEndEvent } from '@holdfast/core';

/** The end of a call for tests; by default a quick success. */
export function callEnd(
  kind: OutcomeKind,
  changes: Partial<ToolCallEndEvent> & {
    readonly code?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly value?: Json;
  } = {},
): ToolCallEndEvent {
  const { code, reason, message = '', value = null, ...event } = changes;
  const { callId = 'c1', name = 'read_file' } = event;
  return {
    type: 'tool-call-end',
    callId,
    name,
    rawArguments: '{"path":"a.txt"}',
    decisions: [],
    outcome: { kind, callId, name, code, reason, message, value, rendered: '', text: message },
    events: [],
    writes: [],
    startedAtMs: 0,
    durationMs: 3,
    ...event,
  };
}

/** A question for tests: about a dangerous call `c1` of the first turn, never expired. */
export function pendingApproval(changes: Partial<PendingApproval> = {}): PendingApproval {
  return {
    callId: 'c1',
    run: 1,
    turn: 1,
    name: 'delete_files',
    input: {},
    dangerous: true,
    asks: [],
    digest: 'd'.repeat(64),
    toolDigest: 'e'.repeat(64),
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    ...changes,
  };
}
