import type { ApprovalAnswer, CallFacts, Json, PolicyDecision, ToolCallEndEvent } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { EffectCheck, ToolCallLateEvent } from '@holdfast/core/types';
import type { LogRecord } from '../log/log.ts';

/** Position and time of a record. */
interface Recorded {
  readonly seq: number;
  readonly atMs: number;
}

/** The records of one call in a log. */
export interface CallRecords {
  readonly callId: string;
  readonly name: string;
  /** The `context.child()` session of the call; absent for the log's own session. */
  readonly sessionId?: string;
  /** The call that it is nested in. */
  readonly parentId?: string;
  /** The model message that requested it. */
  readonly message?: { readonly seq: number; readonly turn: number; readonly text: string; readonly arguments: Json };
  /** Questions to a person in order, with their answers. */
  readonly approvals: readonly (Recorded & {
    readonly asks: readonly PolicyDecision[];
    /** As the question has them. */
    readonly input?: Json;
    readonly facts?: CallFacts;
    readonly answer?: Recorded & { readonly answer: ApprovalAnswer; readonly by?: string };
  })[];
  /** A person's statement about the effect, after the process had ended. */
  readonly resolution?: Recorded & { readonly resolution: EffectCheck; readonly by?: string };
  /** Written before a tool with effects ran. */
  readonly start?: Recorded & { readonly input: Json };
  /** The recorded end event, with the texts of its outcome. */
  readonly end?: ToolCallEndEvent & Recorded;
  /** Result of an abandoned tool after the end. */
  readonly late?: ToolCallLateEvent & { readonly seq: number };
  /** Failures of its resources, apart from its outcome. */
  readonly problems: readonly { readonly seq: number; readonly type: string; readonly message: string }[];
}

/** The records of one call while they are read. */
export type CallTrail = { -readonly [Field in keyof CallRecords]: CallRecords[Field] } & {
  /** Set for calls of a run. Generated ids are the same in every run. */
  readonly run: number | undefined;
  readonly turn: number | undefined;
  /** Of its end, or its last record so far. */
  lastSeq: number;
};

export interface Trails {
  /** Every call with the id, in order. */
  of(callId: string): readonly CallTrail[];
  nestedIn(trail: CallTrail): readonly CallTrail[];
  parentOf(trail: CallTrail): CallTrail | undefined;
}

/** Groups the records of a log, and of the child sessions in it, by call. */
export function readTrails(records: readonly LogRecord[]): Trails {
  const reader = new TrailReader();
  for (const record of records) reader.read(record, undefined);
  return reader;
}

/** A child session, with the call that opened it. `undefined` stands for the log's own session. */
interface Place {
  readonly sessionId: string;
  readonly openedBy: { readonly callId: string; readonly place: Place | undefined };
}

interface Added {
  readonly place: Place | undefined;
  /** First record of the call. */
  readonly record: LogRecord;
  readonly message: LogRecord | undefined;
}

class TrailReader implements Trails {
  /** By session and id; each list in order, the last call may still be running. */
  readonly #trails = new Map<string, CallTrail[]>();
  readonly #byId = new Map<string, CallTrail[]>();
  readonly #nested = new Map<string, CallTrail[]>();
  readonly #parentKeys = new Map<CallTrail, string>();
  /** Last model message in each run of each session. */
  readonly #messages = new Map<string, LogRecord>();
  readonly #places = new Map<string, Place>();

  read(record: LogRecord, place: Place | undefined): void {
    const { type, callId } = record;
    if (type === 'model-message') this.#readMessage(record, place);
    else if (type === 'approval-request') this.#readRequest(record, place);
    else if (typeof callId !== 'string') return;
    else if (type === 'child-record') this.#readChild(record, callId, place);
    else if (type === 'approval-answer') this.#readAnswer(record, callId, place);
    else if (type === 'tool-call-start') this.#readStart(record, callId, place);
    else if (type === 'tool-call-end') this.#readEnd(record, callId, place);
    else if (type === 'call-resolution') this.#readResolution(record, callId, place);
    else if (type === 'tool-call-late') this.#readLate(record, callId, place);
    else if (type.startsWith('resource-')) {
      const { seq, message } = record;
      const trail = this.#lastOf(callId, place);
      if (trail !== undefined) trail.problems = [...trail.problems, { seq, type, message: String(message) }];
    }
  }

  of(callId: string): readonly CallTrail[] {
    return this.#byId.get(callId) ?? [];
  }

  nestedIn(trail: CallTrail): readonly CallTrail[] {
    const all = this.#trails.get(keyOf(trail.sessionId, trail.callId)) ?? [];
    const uses = all.filter((use) => isOfRun(use, trail));
    const before = uses[uses.indexOf(trail) - 1]?.lastSeq ?? -1;
    const until = trail.end === undefined ? Number.POSITIVE_INFINITY : trail.lastSeq;
    const nested = this.#nested.get(keyOf(trail.sessionId, trail.callId)) ?? [];
    return nested
      .filter((call) => call.lastSeq > before && call.lastSeq <= until && isOfRun(call, trail))
      .sort((one, other) => one.lastSeq - other.lastSeq);
  }

  parentOf(trail: CallTrail): CallTrail | undefined {
    const uses = this.#trails.get(this.#parentKeys.get(trail) ?? '') ?? [];
    return uses.find((use) => isOfRun(use, trail) && (use.end === undefined || use.lastSeq >= trail.lastSeq));
  }

  #readMessage(record: LogRecord, place: Place | undefined): void {
    this.#messages.set(keyOf(place?.sessionId, String(record['run'])), record);
    for (const call of callsOf(record)) {
      const id = call['id'];
      if (typeof id !== 'string') continue;
      const last = this.#lastOf(id, place, record);
      // A repeated id within one message is one call; in a later message it is a new call.
      if (last?.end === undefined && last?.message?.seq === record.seq) continue;
      this.#add(id, { place, record, message: record });
    }
  }

  #readRequest(record: LogRecord, place: Place | undefined): void {
    const { pending } = record;
    if (!isPlainObject(pending) || typeof pending['callId'] !== 'string') return;
    const { seq, run = record['run'] ?? null, turn = record['turn'] ?? null } = { ...record, ...pending };
    const asked = { ...record, seq, ...(typeof run === 'number' ? { run, turn } : {}) } as LogRecord;
    const trail = this.#going(pending['callId'], place, asked);
    if (typeof pending['name'] === 'string') trail.name = pending['name'];
    const asks = Array.isArray(pending['asks']) ? (pending['asks'] as readonly PolicyDecision[]) : [];
    const { input, facts } = pending as { readonly input?: Json; readonly facts?: CallFacts };
    const shown = { ...(input === undefined ? {} : { input }), ...(isPlainObject(facts) ? { facts } : {}) };
    trail.approvals = [...trail.approvals, { seq: record.seq, atMs: record.atMs, asks, ...shown }];
  }

  #readAnswer(record: LogRecord, callId: string, place: Place | undefined): void {
    const { answer } = record;
    const trail = this.#going(callId, place, record);
    const at = trail.approvals.findLastIndex((approval) => approval.answer === undefined);
    const question = trail.approvals[at];
    if (question === undefined || !isPlainObject(answer)) return;
    const by = typeof record['by'] === 'string' ? { by: record['by'] } : {};
    const given = { seq: record.seq, atMs: record.atMs, answer: answer as unknown as ApprovalAnswer, ...by };
    trail.approvals = trail.approvals.with(at, { ...question, answer: given });
  }

  #readResolution(record: LogRecord, callId: string, place: Place | undefined): void {
    const { seq, atMs, resolution, by } = record;
    const trail = this.#lastOf(callId, place, record);
    if (trail === undefined || !isPlainObject(resolution)) return;
    const said = typeof by === 'string' ? { by } : {};
    trail.resolution = { seq, atMs, resolution: resolution as unknown as EffectCheck, ...said };
  }

  #readStart(record: LogRecord, callId: string, place: Place | undefined): void {
    const trail = this.#going(callId, place, record);
    this.#identify(trail, record, place);
    trail.start = { seq: record.seq, atMs: record.atMs, input: record['input'] ?? null };
  }

  #readEnd(record: LogRecord, callId: string, place: Place | undefined): void {
    const { outcome } = record;
    if (!isPlainObject(outcome) || typeof outcome['kind'] !== 'string') return;
    const trail = this.#going(callId, place, record);
    this.#identify(trail, record, place);
    // Written by the executor; as JSON it lost only undefined fields.
    trail.end = record as unknown as NonNullable<CallTrail['end']>;
  }

  #readLate(record: LogRecord, callId: string, place: Place | undefined): void {
    const uses = this.#trails.get(keyOf(place?.sessionId, callId)) ?? [];
    const trail = uses.findLast(({ end, late }) => end?.abandoned === true && late === undefined) ?? uses.at(-1);
    if (trail !== undefined) trail.late = record as unknown as NonNullable<CallTrail['late']>;
  }

  #readChild({ seq, atMs, sessionId, entry }: LogRecord, callId: string, place: Place | undefined): void {
    if (typeof sessionId !== 'string' || !isPlainObject(entry) || typeof entry['type'] !== 'string') return;
    let child = this.#places.get(sessionId);
    if (child === undefined) {
      child = { sessionId, openedBy: { callId, place } };
      this.#places.set(sessionId, child);
    }
    this.read({ atMs, ...entry, type: entry['type'], seq } as LogRecord, child);
  }

  /** The last call of an id, within the record's run and turn if it names them. */
  #lastOf(callId: string, place: Place | undefined, record?: LogRecord): CallTrail | undefined {
    const uses = this.#trails.get(keyOf(place?.sessionId, callId));
    if (record === undefined) return uses?.at(-1);
    const { run, turn } = record;
    if (typeof run !== 'number') return uses?.findLast((use) => use.run === undefined);
    return uses?.findLast((use) => use.run === run && use.turn === turn);
  }

  /** The running call with this id, or a new one. */
  #going(callId: string, place: Place | undefined, record: LogRecord): CallTrail {
    const { seq, turn, run } = record;
    const last = this.#lastOf(callId, place, record);
    if (last !== undefined && last.end === undefined) {
      last.lastSeq = seq;
      return last;
    }
    // A second call with one id in one message: both the record and the message name the turn.
    const message = this.#messages.get(keyOf(place?.sessionId, String(run)));
    const known = turn !== undefined && message?.['turn'] === turn ? message : undefined;
    return this.#add(callId, { place, record, message: known });
  }

  #add(callId: string, { place, record, message }: Added): CallTrail {
    const { seq, run, turn } = record;
    const asked = message && callsOf(message).find(({ id }) => id === callId);
    const trail: CallTrail = {
      callId,
      ...(place && { sessionId: place.sessionId }),
      run: typeof run === 'number' ? run : undefined,
      turn: typeof turn === 'number' ? turn : undefined,
      name: asked === undefined ? '' : String(asked['name']),
      ...(asked &&
        message && {
          message: {
            seq: message.seq,
            turn: Number(message['turn']),
            text: String(message['text']),
            arguments: (asked['arguments'] ?? null) as Json,
          },
        }),
      approvals: [],
      problems: [],
      lastSeq: seq,
    };
    push(this.#trails, keyOf(place?.sessionId, callId), trail);
    push(this.#byId, callId, trail);
    return trail;
  }

  #identify(trail: CallTrail, { name, parentId, nested }: LogRecord, place: Place | undefined): void {
    trail.name = String(name);
    if (typeof parentId !== 'string' || trail.parentId !== undefined) return;
    trail.parentId = parentId;
    const opened = place?.openedBy;
    // The parent of the first call in a child session is in the surrounding session.
    const outside = opened !== undefined && nested !== true && opened.callId === parentId;
    const key = keyOf((outside ? opened.place : place)?.sessionId, parentId);
    this.#parentKeys.set(trail, key);
    push(this.#nested, key, trail);
  }
}

/** False only if both name a run and the runs differ. */
function isOfRun(one: CallTrail, other: CallTrail): boolean {
  return one.run === undefined || other.run === undefined || (one.run === other.run && one.turn === other.turn);
}

function callsOf({ calls }: LogRecord): readonly Record<string, unknown>[] {
  return Array.isArray(calls) ? calls.filter(isPlainObject) : [];
}

function keyOf(sessionId: string | undefined, callId: string): string {
  return JSON.stringify([sessionId ?? null, callId]);
}

function push<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
