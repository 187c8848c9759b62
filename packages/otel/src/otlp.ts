import type { Json } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import { names } from './names.ts';
import { type Attributes, type SpanOptions, type SpanSink, SpanWriter } from './spans.ts';

export interface OtlpOptions extends SpanOptions {
  readonly sessionId: string;
  /** A trace id (32 hex digits) or span id (16) for a text that names it: equal for equal texts, so that a log can be exported again. */
  createId(name: string, digits: 16 | 32): string;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: readonly Json[];
  readonly events: Json[];
  status: Json;
}

const internal = 1;
const server = 2;
const failed = 2;

/**
 * The spans of a log as an OTLP request in JSON, for `POST /v1/traces`. Source: OpenTelemetry protocol 1.x, `trace.proto` in its JSON
 * mapping: ids in hex, 64-bit numbers as text.
 */
export function toOtlp(records: readonly LogRecord[], { sessionId, createId, content }: OtlpOptions): Json {
  const spans: OtlpSpan[] = [];
  const sink: SpanSink<OtlpSpan> = {
    start({ name, atMs, parent, remote, attributes }) {
      const place = `${sessionId} ${spans.length}`;
      const span: OtlpSpan = {
        traceId: (parent ?? remote)?.traceId ?? createId(place, 32),
        spanId: createId(place, 16),
        ...(parent === undefined && remote === undefined ? {} : { parentSpanId: (parent ?? remote)?.spanId ?? '' }),
        ...(remote?.traceState === undefined ? {} : { traceState: remote.traceState }),
        name,
        kind: remote === undefined ? internal : server,
        startTimeUnixNano: toNanoseconds(atMs),
        endTimeUnixNano: toNanoseconds(atMs),
        attributes: toAttributes(attributes),
        events: [],
        status: {},
      };
      spans.push(span);
      return span;
    },
    event(span, { name, atMs, attributes }) {
      span.events.push({ name, timeUnixNano: toNanoseconds(atMs), attributes: toAttributes(attributes) });
    },
    end(span, { atMs, attributes, error }) {
      span.endTimeUnixNano = toNanoseconds(atMs);
      const failure: Attributes = error === undefined ? {} : { [names.error]: error };
      span.attributes = [...span.attributes, ...toAttributes({ ...attributes, ...failure })];
      if (error !== undefined) span.status = { code: failed };
    },
  };
  const writer = new SpanWriter(sink, sessionId, { content });
  for (const record of records) writer.take(record);
  writer.close(records.at(-1)?.atMs ?? 0);
  const resource = { attributes: toAttributes({ 'service.name': 'holdfast' }) };
  // JSON by construction; TypeScript cannot see that of an interface.
  const written = spans as unknown as Json;
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: '@holdfast/otel' }, spans: written }] }] };
}

/** An edited log may hold any number. */
function toNanoseconds(ms: number): string {
  return ms >= 0 && ms < 8.64e15 ? String(BigInt(Math.round(ms)) * 1_000_000n) : '0';
}

function toAttributes(attributes: Attributes): readonly Json[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: string | number | boolean): Json {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
