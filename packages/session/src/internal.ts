export type { CallUse } from './explain/explain-call.ts';
export { checkRedactor } from './live/check-options.ts';
export { openSealed, type SealedPlace, sealContent } from './live/sealed.ts';
export type { CallPlace, OpenApproval, OpenCall, OpenStart } from './log/open-call.ts';
export type { OpenPlan, OpenRun } from './log/open-work.ts';
