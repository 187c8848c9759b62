export type { Approve } from './approval.ts';
export { createBudget } from './budget.ts';
export type { CallOptions } from './call-scope.ts';
export type { Suspended } from './conduct-call.ts';
export { executeToolCall } from './execute-tool-call.ts';
export { builtInSlices } from './grants.ts';
export { type AgentRun, type RunAgentOptions, type RunResult, runAgent } from './run-agent.ts';
