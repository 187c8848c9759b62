export { type TraceSessionOptions, traceSession } from './trace-session.ts';
