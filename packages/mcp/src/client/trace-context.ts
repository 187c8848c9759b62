import { isPlainObject } from '@holdfast/core/internal';

/** The place of a request in a trace. Source: W3C Trace Context, sections 3.2 and 3.3; SEP-414 of MCP, which has it in `_meta`. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Version 00; ids of zeros are invalid. */
const valid = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const validState = /^[\x20-\x7e]{1,512}$/;

/** `undefined` for anything else than a valid one. `baggage` is left out: it may hold anything about a user. */
export function readTraceContext(meta: unknown): TraceContext | undefined {
  const { traceparent, tracestate } = isPlainObject(meta) ? meta : {};
  if (typeof traceparent !== 'string' || !valid.test(traceparent)) return undefined;
  return { traceparent, ...(typeof tracestate === 'string' && validState.test(tracestate) ? { tracestate } : {}) };
}
