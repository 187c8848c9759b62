import type { CallFacts, Json, JsonObject, OutcomeKind } from '@holdfast/core';
import { findToolNameProblem, hasMask, isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';

/** A recorded call that policies decided on. */
export interface RecordedCall {
  readonly type: 'call';
  readonly callId: string;
  readonly sessionId: string | undefined;
  readonly parentId: string | undefined;
  readonly run: number | undefined;
  readonly turn: number | undefined;
  /** The user's request of its run, if recorded. */
  readonly request: string | undefined;
  readonly tool: string;
  /** As far as recorded. */
  readonly input: JsonObject;
  /** True if the log has the arguments, masked or not. */
  readonly hasInput: boolean;
  /** Why the arguments are missing or incomplete. */
  readonly hidden: string | undefined;
  /** Number of its last record, and its position in its own session. */
  readonly seq: number;
  readonly at: number;
  /** The approximate time of the decision. */
  readonly atMs: number;
  readonly outcome: OutcomeKind | 'waiting' | 'begun';
  readonly value: Json;
  readonly message: string;
  readonly dangerous: boolean;
  readonly writes: readonly RecordedWrite[];
  /** The facts of the call, if completely recorded. */
  readonly facts: CallFacts | undefined;
  /** The nested calls, by attempt; only those of the last attempt can count. Never empty. */
  readonly attempts: readonly (readonly RecordedCall[])[];
}

export interface RecordedWrite {
  readonly resource: string;
  readonly key: string;
  readonly change: string;
}

/** The part of a session's history that matters to policies. */
export type RecordedStep =
  | RecordedCall
  | { readonly type: 'reset'; readonly at: number }
  /** The state returns to that after the first `to` records. */
  | { readonly type: 'restore'; readonly at: number; readonly to: number }
  /** The state comes from outside of the log. */
  | { readonly type: 'foreign'; readonly at: number; readonly why: string };

/** The steps of a session and of every `context.child()`, each in the order of their effect. */
export function readSessions(records: Iterable<LogRecord>): readonly (readonly RecordedStep[])[] {
  const sessions = new Map<string | undefined, SessionReader>();
  const sessionOf = (id: string | undefined): SessionReader => {
    const known = sessions.get(id) ?? new SessionReader(id);
    sessions.set(id, known);
    return known;
  };
  const read = (record: LogRecord, id: string | undefined, at: number): void => {
    const { type, sessionId, childSeq, entry, seq, atMs } = record;
    if (type !== 'child-record') {
      sessionOf(id).read(record, at);
    } else if (typeof sessionId === 'string' && isPlainObject(entry) && typeof entry['type'] === 'string') {
      const inside = { ...(entry as JsonObject), type: entry['type'], seq, atMs };
      read(inside, sessionId, typeof childSeq === 'number' ? childSeq : seq);
    }
  };
  for (const record of records) read(record, undefined, record.seq);
  return [...sessions.values()].map((session) => session.finish());
}

/** Outcomes of calls that ended before any policy. */
const unasked: ReadonlySet<Json | undefined> = new Set(['unknown-tool', 'truncated']);

class SessionReader {
  readonly #id: string | undefined;
  readonly #steps: RecordedStep[] = [];
  /** Open calls, by place. */
  readonly #open = new Map<string, RecordedCall>();
  /** Nested calls of open calls, by place; a list per start. */
  readonly #nested = new Map<string, RecordedCall[][]>();
  /** By run. */
  readonly #requests = new Map<Json | undefined, string>();
  #started = false;
  #content = true;

  constructor(id: string | undefined) {
    this.#id = id;
  }

  read(record: LogRecord, at: number): void {
    if (!this.#started) this.#start(record);
    switch (record.type) {
      case 'import':
        this.#steps.push({ type: 'foreign', at, why: 'the state was imported' });
        return;
      case 'reset':
        this.#steps.push({ type: 'reset', at });
        return;
      case 'restore':
        this.#steps.push({ type: 'restore', at, to: Number(record['toSeq']) });
        return;
      case 'run-start':
        if (typeof record['input'] === 'string') this.#requests.set(record['run'], record['input']);
        return;
      case 'approval-request':
        if (isPlainObject(record['pending']))
          this.#begin({ ...record, ...record['pending'] } as LogRecord, at, 'waiting');
        return;
      case 'tool-call-start':
        this.#begin(record, at, 'begun');
        return;
      case 'tool-call-end':
        this.#end(record, at);
    }
  }

  /** All steps; open calls are included without success. */
  finish(): readonly RecordedStep[] {
    for (const [key, call] of this.#open) this.#put({ ...call, attempts: this.#takeNested(key) });
    for (const attempts of this.#nested.values()) {
      // The outer call left no record: its nested calls never counted. In a child session the outer call is outside.
      for (const call of attempts.flat()) this.#steps.push(this.#id === undefined ? withoutSuccess(call) : call);
    }
    return this.#steps.sort((one, other) => one.at - other.at);
  }

  #start({ type, content, forkedFrom }: LogRecord): void {
    this.#started = true;
    this.#content = content !== 'none';
    if (type === 'session-start' && forkedFrom === undefined) return;
    // Before anything that a later record returns to.
    this.#steps.push({ type: 'foreign', at: Number.NEGATIVE_INFINITY, why: 'the session began before this log' });
  }

  #begin(record: LogRecord, at: number, outcome: 'waiting' | 'begun'): void {
    const key = keyOf(record);
    const call = this.#toCall(withFacts(record, this.#open.get(key)), at, outcome);
    if (call !== undefined) this.#open.set(key, call);
  }

  #end(record: LogRecord, at: number): void {
    const { outcome, input } = record;
    const key = keyOf(record);
    const begun = this.#open.get(key);
    this.#open.delete(key);
    const attempts = this.#takeNested(key, record['retries']);
    if (!isPlainObject(outcome) || unasked.has(outcome['kind'] as Json)) return;
    // The arguments were rejected before any policy.
    if (this.#content && !isPlainObject(input) && begun === undefined) return;
    if (!this.#content && String(outcome['code']).startsWith('arguments.')) return;
    const call = this.#toCall(
      withFacts(isPlainObject(input) ? record : { ...record, input: begun?.input ?? null }, begun),
      at,
      outcome['kind'] as OutcomeKind,
    );
    if (call !== undefined) this.#put({ ...call, attempts });
  }

  #put(call: RecordedCall): void {
    const { callId, parentId, run, turn } = call;
    // A nested id extends the outer call's id; the first calls of a child session name a call outside.
    if (parentId === undefined || !callId.startsWith(`${parentId}/`)) {
      this.#steps.push(call);
      return;
    }
    const key = keyOf({ callId: parentId, run, turn });
    const attempts = this.#nested.get(key) ?? [[]];
    this.#nested.set(key, attempts);
    // A repeated id: the outer call was restarted after its process had ended.
    if (attempts.at(-1)?.some((other) => other.callId === callId) === true) attempts.push([]);
    attempts.at(-1)?.push(call);
  }

  #takeNested(key: string, retries?: Json): RecordedCall['attempts'] {
    const attempts = this.#nested.get(key) ?? [[]];
    this.#nested.delete(key);
    const failedAtMs = Array.isArray(retries) ? retries.map((retry) => Number(Object(retry).atMs)) : [];
    return [...attempts.slice(0, -1), ...splitByTime(attempts.at(-1) ?? [], failedAtMs)];
  }

  #toCall(record: LogRecord, at: number, outcome: RecordedCall['outcome']): RecordedCall | undefined {
    const { callId, parentId, run, turn, name, input, seq, atMs, startedAtMs, decisions, asks, writes } = record;
    if (typeof callId !== 'string' || typeof name !== 'string' || findToolNameProblem(name) !== undefined)
      return undefined;
    const { value = null, message } = Object(record['outcome']) as { readonly value?: Json; readonly message?: Json };
    const said = [decisions, asks].flatMap((list) => (Array.isArray(list) ? list : []));
    return {
      type: 'call',
      callId,
      sessionId: this.#id,
      parentId: typeof parentId === 'string' ? parentId : undefined,
      run: typeof run === 'number' ? run : undefined,
      turn: typeof turn === 'number' ? turn : undefined,
      request: run === undefined ? undefined : this.#requests.get(run),
      tool: name,
      input: isPlainObject(input) ? (input as JsonObject) : {},
      hasInput: this.#content && isPlainObject(input),
      hidden: this.#whyHidden(input),
      seq,
      at,
      atMs: typeof startedAtMs === 'number' ? startedAtMs : atMs,
      outcome,
      value,
      message: typeof message === 'string' ? message : '',
      dangerous:
        record['dangerous'] === true || said.some((decision) => Object(decision).policy === 'holdfast/dangerous'),
      writes: Array.isArray(writes) ? writes.flatMap(toWrite) : [],
      facts: toFacts(record['facts']),
      attempts: [[]],
    };
  }

  #whyHidden(input: Json | undefined): string | undefined {
    if (!this.#content) return 'the log was kept without content';
    if (!isPlainObject(input)) return 'the log does not have the arguments';
    return hasMask(input as JsonObject) ? 'the arguments contained a secret, which the log does not have' : undefined;
  }
}

function keyOf({ callId, run, turn }: { readonly [field: string]: Json | undefined }): string {
  return JSON.stringify([callId ?? null, run ?? null, turn ?? null]);
}

/** A call that a person approved runs with the facts that were shown; other facts are asked about, and recorded, again. */
function withFacts(record: LogRecord, earlier: RecordedCall | undefined): LogRecord {
  const { facts } = earlier ?? {};
  // JSON: read from a log.
  return record['facts'] !== undefined || facts === undefined ? record : { ...record, facts: facts as unknown as Json };
}

/** Groups `calls` by attempt; all but the last attempt failed at the given times. */
function splitByTime(calls: readonly RecordedCall[], failedAtMs: readonly number[]): RecordedCall['attempts'] {
  const attempts = failedAtMs.map((untilMs, index) =>
    calls.filter(({ atMs }) => atMs <= untilMs && !(atMs <= (failedAtMs[index - 1] ?? Number.NEGATIVE_INFINITY))),
  );
  const last = failedAtMs.at(-1) ?? Number.NEGATIVE_INFINITY;
  return [...attempts, calls.filter(({ atMs }) => atMs > last)];
}

function withoutSuccess(call: RecordedCall): RecordedCall {
  return call.outcome === 'ok' ? { ...call, outcome: 'cancelled' } : call;
}

function toWrite(json: Json): readonly RecordedWrite[] {
  const { resource, key, change } = Object(json) as Readonly<Record<string, Json>>;
  return typeof resource === 'string' && typeof key === 'string' ? [{ resource, key, change: String(change) }] : [];
}

/** Incomplete facts are not usable. */
function toFacts(json: Json | undefined): CallFacts | undefined {
  if (!isPlainObject(json) || json['cut'] === true) return undefined;
  const lists = [json['runs'], json['reads'], json['writes'], json['deletes'], json['hosts'], json['unclear']];
  // As recorded by the executor.
  return lists.every(Array.isArray) ? (json as unknown as CallFacts) : undefined;
}
