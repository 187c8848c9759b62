import type { Session } from '@holdfast/session';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { names } from './names.ts';
import { type SpanOptions, type SpanSink, SpanWriter } from './spans.ts';

export interface TraceSessionOptions extends SpanOptions {
  readonly tracer: Tracer;
  /** The context of the spans without a parent in the session, such as that of a request, or of the run that is resumed. Default: none. */
  readonly context?: Context;
}

/**
 * Sends the session's runs, plans and calls to an OpenTelemetry tracer, from its records: with the names and the masks of its log.
 * Returns a function that ends it, and the spans that are open.
 */
export function traceSession(
  session: Session,
  { tracer, context = ROOT_CONTEXT, content }: TraceSessionOptions,
): () => void {
  const sink: SpanSink<Span> = {
    start({ name, atMs, parent, attributes }) {
      const around = parent === undefined ? context : trace.setSpan(context, parent);
      return tracer.startSpan(name, { kind: SpanKind.INTERNAL, startTime: atMs, attributes }, around);
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
  return () => {
    if (stop()) writer.close(lastMs);
  };
}
