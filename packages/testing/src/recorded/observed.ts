import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';

/** An observed policy's decision on one call. JSON. */
export interface ObservedDecision {
  readonly callId: string;
  /** The session of `context.child()` in which it was made; absent for the session of the log. */
  readonly sessionId?: string;
  /** Number of its record. */
  readonly seq: number;
  readonly tool: string;
  readonly type: 'ask' | 'deny';
  readonly reason: string;
}

/** The decisions of one observed policy. JSON. */
export interface ObservedPolicy {
  /** Its key: `host/git-safety-call-budget`. */
  readonly policy: string;
  readonly asked: number;
  readonly denied: number;
  /** In the order of the calls' ends. */
  readonly decisions: readonly ObservedDecision[];
}

/** All asks and denials of policies under `observe`, by policy, in order of first occurrence. */
export function listObserved(records: Iterable<LogRecord>): readonly ObservedPolicy[] {
  const byPolicy = new Map<string, ObservedDecision[]>();
  for (const record of records) read(record, undefined, byPolicy);
  return [...byPolicy].map(([policy, decisions]) => {
    const denied = decisions.filter(({ type }) => type === 'deny').length;
    return { policy, asked: decisions.length - denied, denied, decisions };
  });
}

function read(record: LogRecord, child: string | undefined, byPolicy: Map<string, ObservedDecision[]>): void {
  const { type, seq, atMs, callId, sessionId, name, decisions, entry } = record;
  if (type === 'child-record') {
    if (typeof sessionId !== 'string' || !isPlainObject(entry) || typeof entry['type'] !== 'string') return;
    read({ ...(entry as JsonObject), type: entry['type'], seq, atMs }, sessionId, byPolicy);
    return;
  }
  if (type !== 'tool-call-end' || typeof callId !== 'string' || !Array.isArray(decisions)) return;
  for (const decision of decisions) {
    const { policy, observed, reason } = Object(decision) as Readonly<Record<string, Json>>;
    if (typeof policy !== 'string' || (observed !== 'ask' && observed !== 'deny')) continue;
    const row: ObservedDecision = {
      callId,
      ...(child === undefined ? {} : { sessionId: child }),
      seq,
      tool: String(name),
      type: observed,
      reason: typeof reason === 'string' ? reason : '',
    };
    const rows = byPolicy.get(policy);
    if (rows === undefined) byPolicy.set(policy, [row]);
    else rows.push(row);
  }
}
