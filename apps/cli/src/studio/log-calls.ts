import type { PolicyDecision } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';
import { describeDecision, formatArguments } from '../calls/line.ts';

/** A call in the list. Its log is not verified for it, so nothing here decides anything. */
export interface ListedCall {
  readonly callId: string;
  /** The child session that it is in; empty for the log's own. */
  readonly child: string;
  readonly name: string;
  /** `waiting`, `approved`, `denied`, `running`, or how it ended. */
  readonly state: string;
  readonly decision: 'allow' | 'ask' | 'deny' | 'none';
  /** The decision in words, with its policy. */
  readonly decided: string;
  /** One line, cut. */
  readonly arguments: string;
  /** Why a person was asked. */
  readonly question: string;
  readonly message: string;
  readonly askedAtMs?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly durationMs?: number;
}

const maxArguments = 400;
const maxNesting = 64;

/** Follows the calls of one log; `put` gets each call again whenever it changes, under the same key. */
export class LogCalls {
  readonly #put: (key: number, call: ListedCall) => void;
  /** Calls that have not ended, by their place. */
  readonly #open = new Map<string, { readonly key: number; readonly call: ListedCall }>();
  #lastSeq = -1;
  #count = 0;

  constructor(put: (key: number, call: ListedCall) => void) {
    this.#put = put;
  }

  take(record: LogRecord): void {
    // A rotated log is read again from its beginning.
    if (record.seq <= this.#lastSeq) return;
    this.#lastSeq = record.seq;
    this.#takeIn(record, '', record.atMs);
  }

  #takeIn(record: Readonly<Record<string, unknown>>, child: string, atMs: number, depth = 0): void {
    const { type, callId, pending, entry, sessionId } = record;
    if (type === 'child-record') {
      if (!isPlainObject(entry) || typeof sessionId !== 'string' || depth >= maxNesting) return;
      this.#takeIn(entry, sessionId, typeof entry['atMs'] === 'number' ? entry['atMs'] : atMs, depth + 1);
    } else if (type === 'approval-request' && isPlainObject(pending)) {
      const decisions = toDecisions(pending['asks']);
      const asked = {
        state: 'waiting',
        decision: 'ask',
        decided: describe(decisions, 'waiting'),
        question: reasonsOf(decisions),
        askedAtMs: atMs,
      } as const;
      this.#update(pending, child, { ...asked, arguments: toLine(pending['input']) });
    } else if (typeof callId !== 'string') {
      return;
    } else if (type === 'approval-answer' && isPlainObject(record['answer'])) {
      this.#update(record, child, { state: record['answer']['type'] === 'approve' ? 'approved' : 'denied' });
    } else if (type === 'tool-call-start') {
      this.#update(record, child, { state: 'running', startedAtMs: atMs, arguments: toLine(record['input']) });
    } else if (type === 'tool-call-end' && isPlainObject(record['outcome'])) {
      this.#end(record, record['outcome'], { child, atMs });
    }
  }

  #end(
    record: Readonly<Record<string, unknown>>,
    outcome: Readonly<Record<string, unknown>>,
    { child, atMs }: { readonly child: string; readonly atMs: number },
  ): void {
    const kind = String(outcome['kind']);
    const decisions = toDecisions(record['decisions']);
    const approval = toApproval(record['approval']);
    const code = typeof outcome['code'] === 'string' ? ` (${outcome['code']})` : '';
    const { startedAtMs, durationMs } = record;
    this.#update(record, child, {
      state: kind,
      decision: approval === undefined ? strictest(decisions, kind) : 'ask',
      decided: describe(decisions, kind, approval),
      arguments: toLine(record['input'] ?? record['rawArguments']),
      message: kind === 'ok' ? '' : `${cut(String(outcome['message'] ?? ''))}${code}`,
      endedAtMs: atMs,
      ...(typeof startedAtMs === 'number' ? { startedAtMs } : {}),
      ...(typeof durationMs === 'number' ? { durationMs } : {}),
    });
    this.#open.delete(placeOf(record, child));
  }

  #update(record: Readonly<Record<string, unknown>>, child: string, changes: Partial<ListedCall>): void {
    const place = placeOf(record, child);
    const known = this.#open.get(place);
    const name = typeof record['name'] === 'string' ? record['name'] : (known?.call.name ?? '');
    const call = { ...(known?.call ?? empty), callId: String(record['callId']), child, ...changes, name };
    if (known === undefined) this.#count += 1;
    const key = known?.key ?? this.#count;
    this.#open.set(place, { key, call });
    this.#put(key, call);
  }
}

const empty = { state: '', decision: 'none', decided: '', arguments: '', question: '', message: '' } as const;

/** Generated ids are the same in every run. */
function placeOf({ run, turn, callId }: Readonly<Record<string, unknown>>, child: string): string {
  return JSON.stringify([child, run ?? null, turn ?? null, callId]);
}

function toDecisions(json: unknown): readonly PolicyDecision[] {
  if (!Array.isArray(json)) return [];
  const isDecision = (item: unknown): boolean =>
    isPlainObject(item) && typeof item['policy'] === 'string' && typeof item['type'] === 'string';
  return json.filter(isDecision) as readonly PolicyDecision[];
}

function toApproval(json: unknown): { readonly type: 'approve' | 'deny'; readonly by: string } | undefined {
  if (!isPlainObject(json)) return undefined;
  return { type: json['type'] === 'approve' ? 'approve' : 'deny', by: String(json['by']) };
}

function strictest(decisions: readonly PolicyDecision[], kind: string): ListedCall['decision'] {
  for (const type of ['deny', 'ask'] as const) if (decisions.some((decision) => decision.type === type)) return type;
  return kind === 'ok' || decisions.length > 0 ? 'allow' : 'none';
}

function reasonsOf(decisions: readonly PolicyDecision[]): string {
  const reasons = decisions.flatMap(({ type, reason }) => (type === 'ask' && reason !== undefined ? [reason] : []));
  return cut([...new Set(reasons)].join(' '));
}

function describe(
  decisions: readonly PolicyDecision[],
  kind: string,
  approval?: ReturnType<typeof toApproval>,
): string {
  const outcome = { kind, message: '' };
  return describeDecision({ name: '', rawArguments: '', decisions, approval, outcome, durationMs: 0 });
}

function toLine(value: unknown): string {
  return cut(formatArguments(value));
}

function cut(text: string): string {
  return text.length <= maxArguments ? text : `${text.slice(0, maxArguments).toWellFormed()}…`;
}
