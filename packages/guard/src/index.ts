export { toToolName } from './decide/agent-tool.ts';
export { decisions, type GuardDecision } from './decide/decisions.ts';
export { createGuard } from './decide/guard.ts';
export { agentSettings, type GuardSelfOptions, guardSelf } from './decide/self.ts';
export type {
  Guard,
  GuardedCall,
  GuardedCallName,
  GuardOptions,
  GuardReport,
  GuardVerdict,
} from './decide/types.ts';
