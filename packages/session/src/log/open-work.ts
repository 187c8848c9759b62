import type { ApprovalAnswer, Json, PendingApproval, Repeat } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import type { EffectCheck } from '@holdfast/core/types';
import type { LogEntry } from './log.ts';
import type { CallPlace, OpenApproval, OpenCall } from './open-call.ts';
import { changesReserved, isReserved, toReserved } from './reservation.ts';
import { type OpenStaged, StagedLedger } from './staged-ledger.ts';

/** A run that is active, suspended or interrupted. */
export interface OpenRun {
  /** The run's id in its records. */
  readonly run: number;
  /** Number of the `run-start` record. */
  readonly seq: number;
  readonly suspended: boolean;
}

/** A plan that is active, suspended or interrupted. Its calls are direct, with ids that begin with `plan_<run>_`. */
export interface OpenPlan {
  /** The run's id in its records. */
  readonly run: number;
  /** Number of the `plan-start` record. */
  readonly seq: number;
  readonly suspended: boolean;
  /** Of the plan, from its `plan-start` record. */
  readonly digest: string;
}

/** The unfinished work of a log. */
export interface OpenWork {
  readonly runs: readonly OpenRun[];
  readonly plans: readonly OpenPlan[];
  readonly calls: readonly OpenCall[];
  /** Absent if there are none. */
  readonly staged?: readonly OpenStaged[];
}

/** Omits `plans` if there are none, as logs of earlier versions do. */
type Written = Omit<OpenWork, 'plans' | 'staged'> & Partial<Pick<OpenWork, 'plans'>>;
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Call = Omit<Writable<OpenCall>, 'approvals'> & { approvals: OpenApproval[] };

const none: readonly never[] = Object.freeze([]);
const nothingOpen: OpenWork = Object.freeze({ runs: none, plans: none, calls: none });

/** Tracks runs, plans and calls that have not ended. Most records cost only a look at their type. */
export class OpenWorkLedger {
  readonly #runs = new Map<number, OpenRun>();
  readonly #plans = new Map<number, OpenPlan>();
  readonly #calls = new Map<string, Call>();
  readonly #staged = new StagedLedger();
  /** Calls that have not ended. */
  readonly calls: ReadonlyMap<string, unknown> = this.#calls;
  /** Handed out since the last record: one decision asks several times. */
  #read: OpenWork | undefined;

  /** @throws Error for JSON not created by `toJson`. */
  static fromJson(json: Json | undefined): OpenWorkLedger {
    const ledger = new OpenWorkLedger();
    if (json === undefined) return ledger;
    if (!isPlainObject(json) || !isObjects(json['runs']) || !isObjects(json['calls'])) {
      throw new Error('it does not list the open work');
    }
    // Earlier versions have no plans.
    if (json['plans'] !== undefined && !isObjects(json['plans'])) throw new Error('it does not list the open plans');
    // Covered by the verified chain.
    const { runs, plans = [], calls } = deepFreeze(structuredClone(json)) as unknown as Written;
    for (const run of runs) ledger.#runs.set(run.run, run);
    for (const plan of plans) ledger.#plans.set(plan.run, plan);
    for (const call of calls) {
      if (!isObjects(call.approvals)) throw new Error('it does not list the approvals of an open call');
      if (!isReserved(call.start?.reserved)) throw new Error('it does not list the reservations of an open call');
      ledger.#calls.set(keyOf(call), { ...call, approvals: [...call.approvals] });
    }
    ledger.#staged.load(json['staged']);
    return ledger;
  }

  toJson(): Json {
    const { runs, plans, calls } = this.read();
    const staged = this.#staged.toJson();
    const written: Written = { runs, ...(plans.length === 0 ? {} : { plans }), calls };
    // Built from records; JSON omits undefined fields.
    return { ...written, ...(staged !== undefined && { staged }) } as unknown as Json;
  }

  read(): OpenWork {
    const staged = this.#staged.read();
    if (this.#calls.size === 0 && this.#runs.size === 0 && this.#plans.size === 0 && staged.length === 0)
      return nothingOpen;
    this.#read ??= Object.freeze({
      runs: Object.freeze([...this.#runs.values()]),
      plans: Object.freeze([...this.#plans.values()]),
      calls: Object.freeze([...this.#calls.values()].map(handOut)),
      ...(staged.length > 0 && { staged }),
    });
    return this.#read;
  }

  find(place: CallPlace): OpenCall | undefined {
    const call = this.#calls.get(keyOf(place));
    return call && handOut(call);
  }

  /** Called when the log is reopened: running calls have lost their process. */
  interrupt(): void {
    this.#read = undefined;
    for (const call of this.#calls.values()) {
      if (call.start !== undefined) call.start = { ...call.start, interrupted: true };
    }
    this.#staged.interrupt();
  }

  note(entry: LogEntry, seq: number, atMs: number): void {
    this.#read = undefined;
    switch (entry.type) {
      case 'resources-staged':
      case 'resources-settled':
      case 'resources-abandoned':
        this.#staged.note(entry, keyOf(entry));
        return;
      case 'tool-call-end':
        if (!this.#staged.empty) this.#staged.note(entry, keyOf(entry));
        if (this.#calls.size === 0) return;
        if (entry['parentId'] === undefined) this.#calls.delete(keyOf(entry));
        else this.#noteReserved(entry);
        return;
      case 'tool-call-start':
        this.#noteStart(entry, atMs);
        return;
      case 'child-record':
        this.#noteChild(entry);
        return;
      case 'approval-request':
        this.#noteRequest(entry, atMs);
        return;
      case 'event': {
        const call = entry['callId'] === undefined ? undefined : this.#calls.get(keyOf(entry));
        if (call === undefined) return;
        call.approvals = call.approvals.map((asked) =>
          asked.answer === undefined ? asked : Object.freeze({ ...asked, granted: true }),
        );
        return;
      }
      case 'approval-answer':
        this.#noteAnswer(entry, atMs);
        return;
      case 'call-resolution': {
        const call = this.#calls.get(keyOf(entry));
        // A call that has not started has no effect; the statement was about an earlier call with its id.
        if (call?.start !== undefined) call.resolution = entry['resolution'] as unknown as EffectCheck;
        return;
      }
      case 'run-start':
      case 'run-resume':
      case 'run-end': {
        const { run } = entry;
        if (typeof run !== 'number' || !this.#noteWork(this.#runs, entry, { run, seq, suspended: false })) return;
        for (const [key, call] of this.#calls) if (call.run === run) this.#calls.delete(key);
        return;
      }
      case 'plan-start':
      case 'plan-resume':
      case 'plan-end': {
        const { plan, digest } = entry;
        if (typeof plan !== 'number') return;
        const begun = { run: plan, seq, suspended: false, digest: String(digest) };
        if (!this.#noteWork(this.#plans, entry, begun)) return;
        // Its remaining calls cannot be resumed.
        const ids = `plan_${plan}_`;
        for (const [key, { run, callId }] of this.#calls) {
          if (run === undefined && callId.startsWith(ids)) this.#calls.delete(key);
        }
        return;
      }
      default:
    }
  }

  /** Notes the start, resumption or end of a run or plan; true if it has ended for good. */
  #noteWork<Work extends OpenRun>(open: Map<number, Work>, { type, status }: LogEntry, begun: Work): boolean {
    const known = type.endsWith('-start') ? begun : open.get(begun.run);
    if (known === undefined) return false;
    const isEnd = type.endsWith('-end');
    if (isEnd && status !== 'suspended') return open.delete(begun.run);
    open.set(begun.run, Object.freeze({ ...known, suspended: isEnd }));
    return false;
  }

  #noteStart(entry: LogEntry, atMs: number): void {
    if (entry['parentId'] !== undefined) {
      this.#noteNested(entry, String(entry['callId']));
      this.#noteReserved(entry);
      return;
    }
    const call = this.#open(entry, String(entry['name']));
    const repeat = toRepeat(entry['repeat']);
    call.start = {
      atMs,
      input: entry['input'] ?? null,
      repeat,
      interrupted: false,
      ...toReserved(call.start?.reserved, entry),
    };
    if (entry['rawArguments'] !== undefined) call.rawArguments = entry['rawArguments'];
  }

  // The innermost entry belongs to a call; the outermost one names this log's call that contains all of them.
  #noteChild({ callId, entry }: LogEntry): void {
    let inner: unknown = entry;
    while (isPlainObject(inner) && inner['type'] === 'child-record') inner = inner['entry'];
    if (isPlainObject(inner) && inner['type'] === 'tool-call-start') this.#noteNested(inner, String(callId));
  }

  /** A nested call that may not be repeated makes its outer calls unrepeatable. */
  #noteNested({ repeat }: Readonly<Record<string, unknown>>, innerId: string): void {
    if (toRepeat(repeat) !== 'never') return;
    for (const call of this.#calls.values()) {
      if (call.start === undefined) continue;
      // The id of a nested call extends that of the outer call.
      if (innerId === call.callId || innerId.startsWith(`${call.callId}/`)) {
        call.start = { ...call.start, repeat: 'never' };
      }
    }
  }

  /** Reservations of a nested call count for its outer calls, too. */
  #noteReserved(entry: LogEntry): void {
    if (!changesReserved(entry)) return;
    for (const call of this.#calls.values()) {
      const { start, callId, run, turn } = call;
      if (start === undefined || run !== entry['run'] || turn !== entry['turn']) continue;
      // The id of a nested call extends those of the calls around it, at any depth.
      if (!String(entry['callId']).startsWith(`${callId}/`)) continue;
      call.start = { ...start, ...toReserved(start.reserved, entry) };
    }
  }

  #noteRequest({ pending, rawArguments }: LogEntry, atMs: number): void {
    // Nested calls wait together with their outer call and are not resumed separately.
    if (!isPlainObject(pending) || pending['parentId'] !== undefined) return;
    const call = this.#open(pending, String(pending['name']));
    call.name = String(pending['name']);
    if (rawArguments !== undefined) call.rawArguments = rawArguments;
    // Handed out without a copy, so it must be immutable.
    const asked = deepFreeze(pending as unknown as PendingApproval);
    call.approvals.push(Object.freeze({ pending: asked, askedAtMs: atMs }));
  }

  #noteAnswer(entry: LogEntry, atMs: number): void {
    const approvals = this.#calls.get(keyOf(entry))?.approvals;
    const answers = ({ pending, answer }: OpenApproval): boolean =>
      answer === undefined && pending.digest === entry['digest'];
    const index = approvals?.findLastIndex(answers) ?? -1;
    const question = approvals?.[index];
    if (approvals === undefined || question === undefined) return;
    const answer = entry['answer'] as unknown as ApprovalAnswer;
    const { by } = entry;
    approvals[index] = Object.freeze({
      ...question,
      answer: deepFreeze(answer),
      answeredAtMs: atMs,
      ...(typeof by === 'string' ? { answeredBy: by } : {}),
    });
  }

  #open(record: Readonly<Record<string, unknown>>, name: string): Call {
    const key = keyOf(record);
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const { callId, run, turn } = record;
    const call: Call = {
      callId: String(callId),
      name,
      ...(typeof run === 'number' ? { run } : {}),
      ...(typeof turn === 'number' ? { turn } : {}),
      approvals: [],
    };
    this.#calls.set(key, call);
    return call;
  }
}

function handOut(call: Call): OpenCall {
  return Object.freeze({ ...call, approvals: Object.freeze([...call.approvals]) });
}

function isObjects(json: unknown): json is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(json) && json.every(isPlainObject);
}

function keyOf({ run, turn, callId }: CallPlace | Readonly<Record<string, unknown>>): string {
  return run === undefined ? `/${String(callId)}` : `${String(run)}.${String(turn)}/${String(callId)}`;
}

/** Unknown values mean that the call must not be repeated. */
function toRepeat(repeat: unknown): Repeat {
  return repeat === 'safe' || repeat === 'keyed' ? repeat : 'never';
}
