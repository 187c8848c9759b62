export { toToolName } from './agent-tool.ts';
export { decisions, type GuardDecision } from './decisions.ts';
export { createGuard } from './guard.ts';
export { agentSettings, type GuardSelfOptions, guardSelf } from './self.ts';
export type {
  Guard,
  GuardedCall,
  GuardedCallName,
  GuardOptions,
  GuardReport,
  GuardVerdict,
} from './types.ts';
