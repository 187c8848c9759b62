export { decisions, type GuardDecision } from './decide/decisions.ts';
export { createGuard } from './decide/guard.ts';
export { guardSelf } from './decide/self.ts';
export type {
  Guard,
  GuardEnding,
  GuardedCall,
  GuardOptions,
  GuardRelease,
  GuardReport,
  GuardVerdict,
  ReleasingGuard,
} from './decide/types.ts';
