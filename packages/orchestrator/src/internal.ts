export type { NodeAsk } from './check/policies.ts';
export type { RateLimit } from './limits/rates.ts';
export { childSessions } from './nested/records.ts';
export type { InputTree, NodeId, OnFail, Reference } from './plan/types.ts';
export type { NodeReport, Tone } from './report/report.ts';
export type { NodeKind } from './trace/trace.ts';
