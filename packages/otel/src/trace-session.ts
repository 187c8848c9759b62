import type { Session } from '@holdfast/session';
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { names } from './names.ts';
import { type RemoteParent, type SpanOptions, type SpanSink, SpanWriter } from './spans.ts';

export interface TraceSessionOptions extends SpanOptions {
  readonly tracer: Tracer;
  /** The context of the spans without a parent in the session, such as that of a request, or of the run that is resumed. Default: none. */
  readonly context?: Context;
}

/** Ends the tracing, and the spans that are open. */
export interface StopTracing {
  (): void;
  /**
   * The W3C `traceparent` for a request that a call makes, such as to an MCP server: the plan or run that the call is in, else the given
   * `context`. The span of the call itself is made from its record, when it has ended.
   */
  traceparent(callId: string): string | undefined;
}

/** Sends the session's runs, plans and calls to an OpenTelemetry tracer, from its records: with the names and the masks of its log. */
export function traceSession(
  session: Session,
  { tracer, context = ROOT_CONTEXT, content }: TraceSessionOptions,
): StopTracing {
  const sink: SpanSink<Span> = {
    start({ name, atMs, parent, remote, attributes }) {
      const around = parent === undefined ? findAround(remote, context) : trace.setSpan(context, parent);
      const kind = remote === undefined ? SpanKind.INTERNAL : SpanKind.SERVER;
      return tracer.startSpan(name, { kind, startTime: atMs, attributes }, around);
    },
    event: (span, { name, atMs, attributes }) => void span.addEvent(name, attributes, atMs),
    end(span, { atMs, attributes, error }) {
      span.setAttributes(attributes);
      if (error !== undefined) span.setAttribute(names.error, error).setStatus({ code: SpanStatusCode.ERROR });
      span.end(atMs);
    },
  };
  const writer = new SpanWriter(sink, session.id, { content });
  let lastMs = 0;
  const stop = session.subscribe((record) => {
    lastMs = record.atMs;
    writer.take(record);
  });
  const end = (): void => {
    if (stop()) writer.close(lastMs);
  };
  const traceparent = (callId: string): string | undefined => {
    const around = (writer.findOpen(callId) ?? trace.getSpan(context))?.spanContext();
    if (around === undefined || !isSpanContextValid(around)) return undefined;
    return `00-${around.traceId}-${around.spanId}-${around.traceFlags.toString(16).padStart(2, '0')}`;
  };
  return Object.assign(end, { traceparent });
}

function findAround(remote: RemoteParent | undefined, context: Context): Context {
  if (remote === undefined) return context;
  const { traceState, ...ids } = remote;
  const state = traceState === undefined ? {} : { traceState: createTraceState(traceState) };
  return trace.setSpanContext(context, { ...ids, ...state, isRemote: true });
}
