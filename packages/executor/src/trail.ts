import {
  copyJson,
  type Json,
  type JsonObject,
  type Outcome,
  type PolicyDecision,
  type SessionEvent,
  type ToolCallEndEvent,
  type Touched,
} from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import type { CallScope } from './call-scope.ts';
import type { Ending } from './ending.ts';

/** A call that has been given an id. */
export interface IdentifiedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** What is known of a call while it goes on; each stage adds its part. */
export interface Trail {
  readonly call: IdentifiedCall;
  readonly rawArguments: Json;
  readonly startedAtMs: number;
  input: JsonObject | undefined;
  decisions: readonly PolicyDecision[];
  approval: NonNullable<ToolCallEndEvent['approval']> | undefined;
}

const none: readonly never[] = Object.freeze([]);

export function startTrail(call: IdentifiedCall, { clock, emit }: CallScope): Trail {
  const startedAtMs = clock.now();
  emit?.({
    type: 'tool-call-start',
    callId: call.id,
    name: call.name,
    rawArguments: call.arguments,
    atMs: startedAtMs,
  });
  return {
    call,
    rawArguments: toJson(call.arguments),
    startedAtMs,
    input: undefined,
    decisions: none,
    approval: undefined,
  };
}

/** The one end event of a call. `touched` and `events` are what it commits. */
export function toEndEvent(
  trail: Trail,
  { error, abandoned, ...ending }: Ending,
  { clock }: CallScope,
  {
    touched,
    events = none,
  }: { readonly touched?: ReadonlyMap<string, Touched>; readonly events?: readonly SessionEvent[] } = {},
): ToolCallEndEvent {
  const { call, rawArguments, startedAtMs, input, decisions, approval } = trail;
  const { kind, code, message, value, rendered, text } = ending;
  const outcome: Outcome = Object.freeze({
    kind,
    callId: call.id,
    name: call.name,
    code,
    message,
    value,
    rendered,
    text,
  });
  return {
    type: 'tool-call-end',
    callId: call.id,
    name: call.name,
    rawArguments,
    ...(input === undefined ? undefined : { input }),
    decisions,
    ...(approval === undefined ? undefined : { approval }),
    outcome,
    events,
    writes: touched === undefined || touched.size === 0 ? none : toWrites(touched),
    ...(error === undefined ? undefined : { error }),
    ...(abandoned === undefined ? undefined : { abandoned }),
    startedAtMs,
    durationMs: clock.now() - startedAtMs,
  };
}

/** Writes down how a call ended that commits nothing. */
export function recordEnd(trail: Trail, ending: Ending, scope: CallScope): ToolCallEndEvent {
  const event = toEndEvent(trail, ending, scope);
  scope.session.record(toLogEntry(event));
  return event;
}

/** The event as the log keeps it: without the stack. */
export function toLogEntry(event: ToolCallEndEvent): LogEntry {
  const entry =
    event.error === undefined ? event : { ...event, error: { name: event.error.name, message: event.error.message } };
  // JSON throughout, but for an outcome's `code`, which JSON leaves out when it is undefined.
  return entry as unknown as LogEntry;
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

function toJson(raw: unknown): Json {
  if (typeof raw === 'string') return raw;
  if (raw === undefined) return null;
  const copied = copyJson(raw);
  return copied.ok ? copied.value : null;
}
