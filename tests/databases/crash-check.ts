import type { LogRecord } from '@holdfast/session';
import type { Effect, ToolName } from './crash-plan.ts';

/** The results of many crashes, added up. */
export interface CrashesSeen {
  sessions: number;
  records: number;
  requests: number;
  /** Of `never`, ended in doubt: nobody can know. */
  inDoubt: number;
  /** Of `keyed` and `safe`, sent again after a crash. */
  repeated: number;
}

export const nothingSeen: CrashesSeen = { sessions: 0, records: 0, requests: 0, inDoubt: 0, repeated: 0 };

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
  for (const { callId } of requests) if (!started.has(callId)) problems.push(`${callId} ran without a start record`);
  for (const callId of told) {
    if (!ends.some((end) => end.callId === callId && end.kind === 'ok'))
      problems.push(`the success of ${callId} is lost`);
  }
  for (const { callId, kind } of ends) {
    const own = requests.filter((request) => request.callId === callId);
    const tool = callId.split('-')[0] as ToolName;
    if (tool === 'never' && own.length > 1) problems.push(`${callId} was sent ${own.length} times`);
    if (new Set(own.map(({ key }) => key)).size > 1) problems.push(`${callId} was sent with different keys`);
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
  return problems;
}

function toEnded({ callId, outcome }: LogRecord): Ended {
  return { callId: String(callId), kind: String((outcome as { readonly kind?: unknown }).kind) };
}
