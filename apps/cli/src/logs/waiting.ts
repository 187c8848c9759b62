import { readFileSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Json, PendingApproval, PolicyDecision, Repeat } from '@holdfast/core';
import { isPlainObject, toProblem } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import { type Grant, listGrants } from '@holdfast/executor';
import type { LogRecord, Session } from '@holdfast/session';
import type { OpenCall } from '@holdfast/session/internal';
import type { LogReading } from '@holdfast/session/jsonl';
import type { CallPreview } from '../calls/preview.ts';
import { isRunning } from '../terminal/system.ts';
import { type FoundLog, readFoundLog } from '../workspace/session-logs.ts';
import { replayLog } from './replay.ts';

/** A call that has not ended, or whose effect is unknown. JSON. */
export interface WaitingCall extends CallPreview {
  readonly callId: string;
  /** Both absent for a direct call. */
  readonly run?: number;
  readonly turn?: number;
  readonly name: string;
  /**
   * `waiting`: for an answer; `expired`: counts as denied; `approved` or `denied`: takes effect on resume; `under-way`: running in
   * another process; `repeatable`: interrupted, and may run again; `in-doubt`: interrupted, effect unknown; `resolved`: interrupted, and
   * a person recorded its effect.
   */
  readonly state: 'waiting' | 'expired' | 'approved' | 'denied' | 'under-way' | 'repeatable' | 'in-doubt' | 'resolved';
  readonly input: Json;
  readonly dangerous?: boolean;
  /** Every ask, with its policy. */
  readonly asks?: readonly PolicyDecision[];
  /** The digest of the question, to which an answer is bound. */
  readonly digest?: string;
  readonly askedAtMs?: number;
  readonly expiresAtMs?: number;
  /** The person who answered. */
  readonly by?: string;
  /** For a call that started. */
  readonly startedAtMs?: number;
  readonly repeat?: Repeat;
  /** True if it ended as `in-doubt` and the model was told. */
  readonly ended?: boolean;
}

/** A run that has not ended. */
export interface WaitingRun {
  readonly run: number;
  readonly state: 'suspended' | 'interrupted' | 'under-way';
  readonly request: string;
  readonly model: string;
  readonly startedAtMs: number;
}

/** A plan that has not ended. */
export interface WaitingPlan {
  /** Its run: the number of records before it. */
  readonly run: number;
  readonly state: WaitingRun['state'];
  /** The request that the plan was compiled from, if any. */
  readonly request?: string;
  readonly digest: string;
  readonly nodes: number;
  readonly startedAtMs: number;
}

/** The pending work of one session. JSON. */
export interface WaitingSession {
  readonly session: string;
  /** The process that has the log open, if it can be determined. */
  readonly openIn?: number;
  readonly runs: readonly WaitingRun[];
  readonly plans: readonly WaitingPlan[];
  readonly calls: readonly WaitingCall[];
  /** Tools granted for the session. */
  readonly grants: readonly Grant[];
  /** The damage of the log; the valid part is still reported. */
  readonly problem?: Problem;
}

export interface WaitingPlace {
  readonly nowMs: number;
  /** As `previewCall`. */
  preview(question: PendingApproval): Promise<CallPreview>;
}

/** Reads the pending work of a session without a lock: another process may have it open. @throws HoldfastError `log.missing`, `log.unreadable`. */
export async function readWaiting(log: FoundLog, { nowMs, preview }: WaitingPlace): Promise<WaitingSession> {
  const { id, path, store } = log;
  const reading = await readFoundLog(log);
  const { records } = reading;
  const openIn = store === undefined ? findWriter(path) : undefined;
  const isOpen = openIn !== undefined || (await store?.isOpen(id)) === true;
  const found = { session: id, ...(openIn === undefined ? {} : { openIn }) };
  const damage = describeDamage(reading, isOpen);
  const problem = damage === undefined ? {} : { problem: damage };
  const nothing = { runs: [], plans: [], calls: [], grants: [] };
  if (records.length === 0) return { ...found, ...nothing, ...problem };
  try {
    const { session } = replayLog(records);
    const place = { nowMs, isOpen };
    const open: WaitingCall[] = [];
    for (const call of session.openWork().calls) {
      const waiting = toWaitingCall(call, place);
      const question = waiting.state === 'waiting' ? call.approvals.at(-1)?.pending : undefined;
      open.push({ ...waiting, ...(question === undefined ? {} : await preview(question)) });
    }
    return {
      ...found,
      runs: listRuns(session, records, place),
      plans: listPlans(session, records, place),
      calls: [...open, ...listInDoubt(records)],
      grants: listGrants(session),
      ...problem,
    };
  } catch (thrown) {
    return { ...found, ...nothing, problem: toProblem(thrown, { code: 'log.damaged', reason: 'record' }) };
  }
}

/** True if a person has something to do. */
export function isWaiting({ runs, plans, calls, problem }: WaitingSession): boolean {
  return runs.length + plans.length > 0 || problem !== undefined || calls.some(({ ended }) => ended !== true);
}

// Another process may be writing the last record, so a partial record is not damage.
function describeDamage({ torn, problem }: LogReading, isOpen: boolean): WaitingSession['problem'] {
  if (problem !== undefined) return { code: problem.code, reason: problem.reason, message: problem.message };
  if (torn === undefined || isOpen) return undefined;
  return { code: 'log.damaged', reason: 'torn', message: `Its last ${torn.bytes} bytes are an incomplete record.` };
}

interface Moment {
  readonly nowMs: number;
  /** True if a process has the log open for writing. */
  readonly isOpen: boolean;
}

function listRuns(session: Session, records: readonly LogRecord[], { isOpen }: Moment): readonly WaitingRun[] {
  return session.openWork().runs.map(({ run, seq, suspended }) => {
    const start = findRecord(records, seq);
    return {
      run,
      state: describeOpen(suspended, isOpen),
      request: String(start?.['input'] ?? ''),
      model: String(start?.['model'] ?? ''),
      startedAtMs: Number(start?.['atMs'] ?? 0),
    };
  });
}

function listPlans(session: Session, records: readonly LogRecord[], { isOpen }: Moment): readonly WaitingPlan[] {
  return session.openWork().plans.map(({ run, seq, suspended, digest }) => {
    const start = findRecord(records, seq);
    const [document, request] = [start?.['document'], start?.['request']];
    const nodes = isPlainObject(document) && Array.isArray(document['nodes']) ? document['nodes'].length : 0;
    return {
      run,
      state: describeOpen(suspended, isOpen),
      ...(typeof request === 'string' ? { request } : {}),
      digest,
      nodes,
      startedAtMs: Number(start?.['atMs'] ?? 0),
    };
  });
}

function describeOpen(suspended: boolean, isOpen: boolean): WaitingRun['state'] {
  if (suspended) return 'suspended';
  return isOpen ? 'under-way' : 'interrupted';
}

function toWaitingCall(call: OpenCall, moment: Moment): WaitingCall {
  const { callId, run, turn, name, approvals, start } = call;
  const question = approvals.at(-1);
  const { pending } = question ?? {};
  return {
    callId,
    ...(run === undefined ? {} : { run, ...(turn === undefined ? {} : { turn }) }),
    name,
    state: describeState(call, moment),
    input: start?.input ?? pending?.input ?? null,
    ...(pending === undefined ? {} : { dangerous: pending.dangerous, asks: pending.asks, digest: pending.digest }),
    ...(question === undefined ? {} : { askedAtMs: question.askedAtMs, expiresAtMs: question.pending.expiresAtMs }),
    ...(question?.answeredBy === undefined ? {} : { by: question.answeredBy }),
    ...(start === undefined ? {} : { startedAtMs: start.atMs, repeat: start.repeat }),
  };
}

function describeState({ approvals, start, resolution }: OpenCall, { nowMs, isOpen }: Moment): WaitingCall['state'] {
  if (start !== undefined) {
    if (isOpen) return 'under-way';
    if (resolution !== undefined) return 'resolved';
    return start.repeat === 'never' ? 'in-doubt' : 'repeatable';
  }
  const question = approvals.at(-1);
  if (question?.answer?.type === 'deny') return 'denied';
  if (question === undefined || nowMs >= question.pending.expiresAtMs) return 'expired';
  return question.answer === undefined ? 'waiting' : 'approved';
}

/** Calls that ended in doubt and whose effect has not been recorded. */
function listInDoubt(records: readonly LogRecord[]): readonly WaitingCall[] {
  const found = new Map<string, WaitingCall>();
  for (const record of records) {
    const { type, callId, outcome, name, run, turn } = record;
    if (typeof callId !== 'string') continue;
    const key = JSON.stringify([run ?? null, turn ?? null, callId]);
    if (type === 'call-resolution') found.delete(key);
    if (type !== 'tool-call-end' || !isPlainObject(outcome) || outcome['kind'] !== 'in-doubt') continue;
    found.set(key, {
      callId,
      ...(typeof run === 'number' ? { run } : {}),
      ...(typeof turn === 'number' ? { turn } : {}),
      name: String(name),
      state: 'in-doubt',
      input: record['input'] ?? null,
      ended: true,
    });
  }
  return [...found.values()];
}

// A rotated log begins later than 0.
function findRecord(records: readonly LogRecord[], seq: number): LogRecord | undefined {
  return records[seq - (records[0]?.seq ?? 0)];
}

/** The id of the process that has the log open for writing; `undefined` if there is none or it is unknown. */
export function findWriter(logPath: string): number | undefined {
  let lock: unknown;
  try {
    lock = JSON.parse(readFileSync(`${realpathSync(logPath)}.lock`, 'utf8'));
  } catch {
    // No lock, or an incomplete one; opening the log for writing checks for certain.
    return undefined;
  }
  if (!isPlainObject(lock)) return undefined;
  const { pid, host } = lock;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  // A process on another machine may be running.
  return host !== hostname() || isRunning(pid) ? pid : undefined;
}
