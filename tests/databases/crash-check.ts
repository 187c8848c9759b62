import type { LogRecord } from '@holdfast/session';
import type { Effect, ToolName } from './crash-plan.ts';

/** The results of many crashes, added up. */
export interface CrashesSeen {
  /** Workers that were killed while they worked. */
  kills: number;
  sessions: number;
  records: number;
  requests: number;
  /** Records that a worker relied on and that the log does not have. */
  lost: number;
  /** Calls of `never` that the outside received again. */
  secondRequests: number;
  /** Calls of `keyed` that the outside received with another key, and so applied again. */
  secondApplications: number;
  /** Of `never`, ended in doubt: nobody can know. */
  inDoubt: number;
  /** Of `keyed` and `safe`, sent again after a crash. */
  repeated: number;
  /** All mistakes, those above and others. */
  readonly problems: string[];
}

export function nothingSeen(): CrashesSeen {
  const found = { lost: 0, secondRequests: 0, secondApplications: 0, inDoubt: 0, repeated: 0 };
  return { kills: 0, sessions: 0, records: 0, requests: 0, ...found, problems: [] };
}

interface Ended {
  readonly callId: string;
  readonly kind: string;
}

/**
 * The mistakes in the log of one session, given the requests that the outside received for it and the calls whose success was reported.
 * A request needs a start record, a reported success an end record.
 */
export function checkSession(
  records: readonly LogRecord[],
  requests: readonly Effect[],
  told: ReadonlySet<string>,
  seen: CrashesSeen,
): readonly string[] {
  const started = new Set(records.filter(({ type }) => type === 'tool-call-start').map(({ callId }) => String(callId)));
  const ends = records.filter(({ type }) => type === 'tool-call-end').map(toEnded);
  const problems: string[] = [];
  for (const [index, { seq }] of records.entries())
    if (seq !== index) problems.push(`record ${index} has number ${seq}`);
  if (records.at(-1)?.type !== 'run-end') problems.push('the run did not end');
  const lost = [
    ...requests
      .filter(({ callId }) => !started.has(callId))
      .map(({ callId }) => `${callId} ran without a start record`),
    ...[...told]
      .filter((callId) => !ends.some((end) => end.callId === callId && end.kind === 'ok'))
      .map((callId) => `the success of ${callId} is lost`),
  ];
  problems.push(...lost);
  seen.lost += lost.length;
  const byCall = Map.groupBy(requests, ({ callId }) => callId);
  for (const [callId, own] of byCall) {
    const tool = toTool(callId);
    const keys = new Set(own.map(({ key }) => key)).size;
    if (tool === 'never' && own.length > 1) {
      problems.push(`${callId} was sent ${own.length} times`);
      seen.secondRequests += 1;
    }
    if (keys > 1) problems.push(`${callId} was sent with different keys`);
    if (tool === 'keyed' && keys > 1) seen.secondApplications += 1;
  }
  for (const { callId, kind } of ends) {
    const own = byCall.get(callId) ?? [];
    const tool = toTool(callId);
    if (kind === 'ok' && own.length === 0) problems.push(`${callId} ended well and was never sent`);
    if (kind === 'in-doubt' && tool !== 'never') problems.push(`${callId} is in doubt`);
    if (kind === 'in-doubt') seen.inDoubt += 1;
    if (own.length > 1) seen.repeated += 1;
  }
  const twice = ends.filter(({ callId }, index) => ends.findIndex((end) => end.callId === callId) !== index);
  for (const { callId } of twice) problems.push(`${callId} ended twice`);
  seen.sessions += 1;
  seen.records += records.length;
  seen.requests += requests.length;
  seen.problems.push(...problems);
  return problems;
}

function toTool(callId: string): ToolName {
  return callId.split('-')[0] as ToolName;
}

function toEnded({ callId, outcome }: LogRecord): Ended {
  return { callId: String(callId), kind: String((outcome as { readonly kind?: unknown }).kind) };
}
