export { decisions, type GuardDecision } from './decide/decisions.ts';
export { createGuard } from './decide/guard.ts';
export { guardSelf } from './decide/self.ts';
export type { Guard, GuardedCall, GuardOptions, GuardReport, GuardVerdict } from './decide/types.ts';
