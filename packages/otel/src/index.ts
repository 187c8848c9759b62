export { type StopTracing, type TraceSessionOptions, traceSession } from './trace-session.ts';
