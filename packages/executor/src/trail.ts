import {
  cutMiddle,
  type Json,
  type JsonObject,
  maxResultCharsOf,
  minResultChars,
  type Outcome,
  type PolicyDecision,
  type RecordedOutcome,
  type SessionEvent,
  type ThrownError,
  type ToolCallEndEvent,
  type Touched,
} from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import type { CallScope } from './call-scope.ts';
import { afterAttempts, type Ending } from './ending.ts';
import type { IdentifiedCall } from './identified-call.ts';
import { omitArguments } from './omitted-arguments.ts';
import type { Reservations } from './reservations.ts';
import { learnArguments } from './secrets.ts';

/** What is known of a call while it goes on; each stage adds its part. */
export interface Trail {
  readonly call: IdentifiedCall;
  readonly startedAtMs: number;
  input: JsonObject | undefined;
  decisions: readonly PolicyDecision[];
  approval: NonNullable<ToolCallEndEvent['approval']> | undefined;
  /** The count of its session's moves that the decision was taken on; `undefined` where that stays as it is. */
  decidedAt: number | undefined;
  /** Keys of policies whose ask a person has answered with yes. */
  approved: ReadonlySet<string> | undefined;
  /** Its tool was begun before the process ended, and may have taken effect then. */
  begunBefore: boolean;
  /** Its tool is running and has not begun yet: it touches nothing. */
  preparing: boolean;
  /** Time that a person took to answer, or that a call waited for its turn between two attempts; no part of its duration. */
  waitedMs: number;
  /** Of a call that began early, when its tool was done: what it waited for then is no part of its duration. */
  finishedAtMs: number | undefined;
  /** Attempts that failed, and were followed by another one. */
  retries: ToolCallEndEvent['retries'];
  /** What policies have reserved before its tool began, now or before the process ended. */
  reservations: Reservations | undefined;
}

const none: readonly never[] = Object.freeze([]);

export function startTrail(call: IdentifiedCall, { clock, emit, parent, session, toolset }: CallScope): Trail {
  learnArguments(session.redactor, toolset.byName.get(call.name), call.arguments);
  const startedAtMs = clock.now();
  emit?.({
    type: 'tool-call-start',
    callId: call.id,
    parentId: parent?.call.id,
    name: call.name,
    rawArguments: call.arguments,
    atMs: startedAtMs,
  });
  return {
    call,
    startedAtMs,
    input: undefined,
    decisions: none,
    approval: undefined,
    decidedAt: undefined,
    approved: undefined,
    begunBefore: false,
    preparing: false,
    waitedMs: 0,
    finishedAtMs: undefined,
    retries: undefined,
    reservations: undefined,
  };
}

/** The one end event of a call. `committed` is what goes into the session with it. */
export function toEndEvent(
  trail: Trail,
  ending: Ending,
  scope: CallScope,
  committed: Committed = nothing,
): ToolCallEndEvent {
  const { clock, parent, run } = scope;
  const { call, startedAtMs, retries } = trail;
  const attempts = retries === undefined ? undefined : retries.length + 1;
  const { kind, code, message, value, rendered, text } =
    attempts === undefined ? ending : afterAttempts(ending, attempts);
  const outcome: Outcome = Object.freeze({
    kind,
    callId: call.id,
    name: call.name,
    code,
    message,
    value,
    rendered,
    text: text.length <= minResultChars ? text : cutMiddle(text, maxCharsOf(call, scope)),
    attempts,
  });
  // Every field is always there, `undefined` or not: objects of one shape are cheaper, and JSON leaves `undefined` out.
  return {
    type: 'tool-call-end',
    callId: call.id,
    parentId: parent?.call.id,
    run: run?.startSeq,
    turn: run?.turn,
    name: call.name,
    rawArguments: call.arguments,
    input: trail.input,
    decisions: trail.decisions,
    approval: trail.approval,
    outcome,
    events: committed.events,
    changes: committed.changes.length === 0 ? undefined : committed.changes,
    writes: committed.touched.size === 0 ? none : toWrites(committed.touched),
    mark: committed.mark,
    error: ending.error,
    retries,
    abandoned: ending.abandoned,
    startedAtMs,
    // Never negative, also when the clock was set back.
    durationMs: Math.max(
      0,
      trail.finishedAtMs === undefined ? clock.now() - startedAtMs - trail.waitedMs : trail.finishedAtMs - startedAtMs,
    ),
    waitedMs: trail.waitedMs > 0 ? trail.waitedMs : undefined,
  };
}

export interface Committed {
  readonly events: readonly SessionEvent[];
  readonly changes: readonly Json[];
  readonly touched: ReadonlyMap<string, Touched>;
  readonly mark: string | undefined;
}

const nothing: Committed = { events: none, changes: none, touched: new Map(), mark: undefined };

/** As much of each text as a record may have twice: to leave out less would take longer than to keep it. */
const shortText = 200;

/**
 * The event as the log keeps it: without the stack, without long texts that follow from the value, and without long arguments that
 * were refused. Of most calls it is the event itself.
 */
export function toLogEntry(event: ToolCallEndEvent, ending: Ending, scope: CallScope): LogEntry {
  const { error, input, outcome, rawArguments } = event;
  const short = ending.text.length <= shortText && ending.rendered.length <= shortText;
  const omitted = input === undefined ? omitArguments(rawArguments, scope) : undefined;
  const kept =
    short && error === undefined && omitted === undefined
      ? event
      : {
          ...event,
          ...(short ? {} : { outcome: toRecorded(outcome, ending, scope) }),
          ...(error === undefined ? {} : { error: withoutStack(error) }),
          ...omitted,
        };
  // JSON throughout, but for fields that are undefined, which JSON leaves out.
  return kept as unknown as LogEntry;
}

function toRecorded(
  { kind, callId, name, code, message, value, text, attempts }: Outcome,
  ending: Ending,
  scope: CallScope,
): RecordedOutcome {
  const ok = kind === 'ok';
  return {
    kind,
    callId,
    name,
    code,
    message,
    value,
    ...(ok && ending.ownRendering === true ? { rendered: ending.rendered } : {}),
    ...(ok && ending.excluded === true ? { excluded: true } : {}),
    ...(text.length < ending.text.length ? { maxResultChars: maxCharsOf({ name }, scope) } : {}),
    attempts,
  };
}

function maxCharsOf({ name }: { readonly name: string }, { toolset, maxResultChars }: CallScope): number {
  return maxResultCharsOf(maxResultChars, toolset.byName.get(name)?.tool.maxResultChars);
}

/** What the log keeps of an error. */
export function withoutStack({ stack: _stack, ...kept }: ThrownError): ThrownError {
  return kept;
}

function toWrites(touched: ReadonlyMap<string, Touched>): ToolCallEndEvent['writes'] {
  return [...touched].flatMap(([resource, { writes }]) =>
    writes
      .filter(({ before, after }) => before !== after)
      .map(({ key, before, after }) => ({
        resource,
        key,
        change: before === null ? 'created' : after === null ? 'removed' : 'changed',
      })),
  );
}
