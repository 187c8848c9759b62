import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';
import { events, names, operations } from './names.ts';

export type Attributes = Record<string, string | number | boolean>;

/** A span to start. Times are milliseconds since 1970. */
export interface NewSpan<Span> {
  readonly name: string;
  readonly atMs: number;
  /** `undefined`: the parent that the host gives, if any. */
  readonly parent: Span | undefined;
  /** The parent in another process, for a call of an MCP client without a parent here. */
  readonly remote?: RemoteParent | undefined;
  readonly attributes: Attributes;
}

export interface RemoteParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly traceState: string | undefined;
}

/** Where spans go: a tracer of OpenTelemetry, or a document. */
export interface SpanSink<Span> {
  start(span: NewSpan<Span>): Span;
  event(span: Span, event: { readonly name: string; readonly atMs: number; readonly attributes: Attributes }): void;
  end(
    span: Span,
    end: { readonly atMs: number; readonly attributes: Attributes; readonly error: string | undefined },
  ): void;
}

export interface SpanOptions {
  /** True adds arguments, results and reasons, as they are in the log: masked by the session's redactor. Default false. */
  readonly content?: boolean | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A call that has ended, and the calls that ended inside it. */
interface EndedCall {
  readonly record: Fields;
  readonly child: string;
  readonly asked: readonly Moment[];
}

interface Moment {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

const maxNesting = 64;

/** Ends of runs and plans that have a result. */
const succeeded: ReadonlySet<string> = new Set(['completed', 'succeeded', 'partial']);

/**
 * Writes the spans of a log: `invoke_agent` for a run, `invoke_workflow` for a plan, `execute_tool` for a call. A call ends after the
 * calls inside it, so its span is written at its end, and theirs below it.
 */
export class SpanWriter<Span> {
  readonly #sink: SpanSink<Span>;
  readonly #content: boolean;
  readonly #sessionId: string;
  /** Runs and plans that are open, by the number of records before them. */
  readonly #runs = new Map<number, Span>();
  readonly #plans = new Map<number, Span>();
  /** Calls that ended inside a call that has not. */
  readonly #inside = new Map<string, EndedCall[]>();
  /** Questions and answers of calls that have not ended. */
  readonly #asked = new Map<string, Moment[]>();
  /** Requests of MCP clients whose calls have not ended. */
  readonly #requests = new Map<string, Fields>();

  constructor(sink: SpanSink<Span>, sessionId: string, { content = false }: SpanOptions = {}) {
    this.#sink = sink;
    this.#sessionId = sessionId;
    this.#content = content;
  }

  take(record: LogRecord): void {
    this.#take(record, { child: '', opener: undefined, atMs: record.atMs }, 0);
  }

  /** Ends what is open, for a log that ends before it. */
  close(atMs: number): void {
    for (const span of [...this.#plans.values(), ...this.#runs.values()])
      this.#sink.end(span, { atMs, attributes: {}, error: undefined });
    this.#plans.clear();
    this.#runs.clear();
  }

  /** The open plan or run that a call is in, before its own record says which. */
  findOpen(callId: string): Span | undefined {
    return this.#findAround(callId, [...this.#runs.keys()].at(-1) ?? Number.NaN);
  }

  #take(record: Fields, place: Place, depth: number): void {
    const { type, entry, sessionId, callId } = record;
    if (type === 'child-record') {
      if (!isPlainObject(entry) || typeof sessionId !== 'string' || depth >= maxNesting) return;
      const opener = keyOf(place.child, String(callId));
      this.#take(entry, { child: sessionId, opener, atMs: place.atMs }, depth + 1);
    } else if (type === 'tool-call-end') this.#endCall(record, place);
    else if (type === 'approval-request' && isPlainObject(record['pending']))
      this.#note(String(record['pending']['callId']), place, { name: events.asked, attributes: {} });
    else if (type === 'approval-answer' && isPlainObject(record['answer']))
      this.#noteAnswer(record, record['answer'], place);
    else if (type === 'mcp-trace' && place.child === '') this.#requests.set(keyOf('', String(callId)), record);
    // Runs of a child session are told by their calls.
    else if (place.child === '') this.#takeRun(record, place.atMs);
  }

  #takeRun(record: Fields, atMs: number): void {
    const { type } = record;
    const run = Number(record['run']);
    if (type === 'run-start' || (type === 'run-resume' && !this.#runs.has(run))) {
      const attributes = {
        ...this.#common(operations.agent),
        ...(typeof record['model'] === 'string' ? { [names.model]: record['model'] } : {}),
        ...(type === 'run-resume' ? { [names.resumed]: true } : {}),
      };
      this.#runs.set(run, this.#sink.start({ name: operations.agent, atMs, parent: undefined, attributes }));
    } else if (type === 'run-end' && record['status'] !== 'suspended') {
      const { status, usage } = record;
      const { inputTokens, outputTokens } = isPlainObject(usage) ? usage : {};
      this.#endOpen(this.#runs, run, atMs, {
        [names.status]: String(status),
        ...(typeof inputTokens === 'number' ? { [names.inputTokens]: inputTokens } : {}),
        ...(typeof outputTokens === 'number' ? { [names.outputTokens]: outputTokens } : {}),
      });
    } else if (type === 'plan-start') {
      const attributes = { ...this.#common(operations.workflow), [names.plan]: String(record['digest']) };
      const plan = Number(record['plan']);
      this.#plans.set(plan, this.#sink.start({ name: operations.workflow, atMs, parent: undefined, attributes }));
    } else if (type === 'plan-end' && record['status'] !== 'suspended')
      this.#endOpen(this.#plans, Number(record['plan']), atMs, { [names.status]: String(record['status']) });
  }

  #endOpen(open: Map<number, Span>, key: number, atMs: number, attributes: Attributes): void {
    const span = open.get(key);
    if (span === undefined) return;
    const status = String(attributes[names.status]);
    this.#sink.end(span, { atMs, attributes, error: succeeded.has(status) ? undefined : status });
    open.delete(key);
  }

  #endCall(record: Fields, { child, opener }: Place): void {
    const { callId, parentId, run } = record;
    const key = keyOf(child, String(callId));
    const ended = { record, child, asked: this.#asked.get(key) ?? [] };
    this.#asked.delete(key);
    const around = typeof parentId === 'string' ? keyOf(child, parentId) : undefined;
    // The first call of a child session has its parent in the session around it.
    const isOpener = opener !== undefined && (around === undefined || opener.endsWith(JSON.stringify(parentId)));
    const parent = isOpener ? opener : around;
    if (parent === undefined) this.#write(ended, this.#findAround(String(callId), Number(run)));
    else this.#inside.set(parent, [...(this.#inside.get(parent) ?? []), ended]);
  }

  /** Calls of a plan have the ids `plan_RUN_…`. */
  #findAround(callId: string, run: number): Span | undefined {
    const [, plan] = /^plan_(\d+)_/.exec(callId) ?? [];
    return (plan === undefined ? undefined : this.#plans.get(Number(plan))) ?? this.#runs.get(run);
  }

  #write({ record, child, asked }: EndedCall, parent: Span | undefined): void {
    const { callId, name, startedAtMs, durationMs, waitedMs, outcome, decisions, approval, retries } = record;
    const { kind, code, message, value, attempts } = isPlainObject(outcome) ? outcome : {};
    const made = (Array.isArray(decisions) ? decisions : []).filter(isPlainObject);
    const atMs = Number(startedAtMs);
    const endMs = atMs + Number(durationMs) + Number(waitedMs ?? 0);
    const { writes } = record;
    const key = keyOf(child, String(callId));
    const request = this.#requests.get(key);
    this.#requests.delete(key);
    const span = this.#sink.start({
      name: `${operations.tool} ${String(name)}`,
      atMs,
      parent,
      remote: parent === undefined ? toRemote(request) : undefined,
      attributes: {
        ...(request === undefined ? {} : { [names.method]: String(request['method']) }),
        ...this.#common(operations.tool),
        [names.tool]: String(name),
        [names.toolType]: 'function',
        [names.call]: String(callId),
        [names.decision]: isPlainObject(approval) ? 'ask' : strictest(made),
        [names.outcome]: String(kind),
        ...(this.#content ? { [names.arguments]: toText(record['input'] ?? record['rawArguments']) } : {}),
      },
    });
    for (const decision of made) {
      const { policy, type, reason } = decision;
      const told = this.#content && typeof reason === 'string' ? { [names.reason]: reason } : {};
      const attributes = { [names.policy]: String(policy), [names.decision]: String(type), ...told };
      this.#sink.event(span, { name: events.decision, atMs, attributes });
    }
    for (const moment of asked) this.#sink.event(span, moment);
    for (const retry of (Array.isArray(retries) ? retries : []).filter(isPlainObject))
      this.#sink.event(span, {
        name: events.retry,
        atMs: Number(retry['atMs']),
        attributes: { [names.error]: String(retry['code']) },
      });
    for (const inner of this.#inside.get(key) ?? []) this.#write(inner, span);
    this.#inside.delete(key);
    this.#sink.end(span, {
      atMs: endMs,
      error: kind === 'ok' ? undefined : String(code ?? kind),
      attributes: {
        ...(typeof waitedMs === 'number' ? { [names.waited]: waitedMs } : {}),
        ...(typeof attempts === 'number' ? { [names.attempts]: attempts } : {}),
        ...(Array.isArray(writes) && writes.length > 0 ? { [names.writes]: writes.length } : {}),
        ...(this.#content ? { [names.result]: toText(kind === 'ok' ? value : message) } : {}),
      },
    });
  }

  #noteAnswer(record: Fields, answer: Fields, place: Place): void {
    const by = typeof record['by'] === 'string' ? { [names.by]: record['by'] } : {};
    const attributes = { [names.decision]: String(answer['type']), ...by };
    this.#note(String(record['callId']), place, { name: events.answered, attributes });
  }

  #note(callId: string, { child, atMs }: Place, moment: Omit<Moment, 'atMs'>): void {
    const key = keyOf(child, callId);
    this.#asked.set(key, [...(this.#asked.get(key) ?? []), { ...moment, atMs }]);
  }

  #common(operation: string): Attributes {
    return { [names.operation]: operation, [names.conversation]: this.#sessionId };
  }
}

interface Place {
  /** The child session; empty for the log's own. */
  readonly child: string;
  /** The key of the call that opened the child session. */
  readonly opener: string | undefined;
  readonly atMs: number;
}

function keyOf(child: string, callId: string): string {
  return `${child}\n${JSON.stringify(callId)}`;
}

/** An edited log may hold anything. */
function toRemote(request: Fields | undefined): RemoteParent | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(String(request?.['traceparent'])) ?? [];
  if (traceId === '') return undefined;
  const state = request?.['tracestate'];
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    traceState: typeof state === 'string' ? state : undefined,
  };
}

function strictest(decisions: readonly Fields[]): string {
  for (const type of ['deny', 'ask']) if (decisions.some((decision) => decision['type'] === type)) return type;
  return 'allow';
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify((value ?? null) as Json);
}
