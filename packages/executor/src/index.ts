export {
  type AnswerOptions,
  answerApproval,
  pendingApprovals,
  resolveCall,
  type SessionOrRun,
} from './approval/answer.ts';
export { type Grant, type Judges, listGrants, withdrawGrant } from './approval/grants.ts';
export { readDecision } from './call/authorize.ts';
export type { Released } from './call/run-call.ts';
export type { CallOptions } from './call/scope.ts';
export type {
  Approve,
  CallManner,
  EndOfLife,
  HostAnswer,
  PolicyInForce,
  PolicySurroundings,
  Suspended,
} from './call/types.ts';
export { executeToolCall } from './direct/execute-tool-call.ts';
export { isolateListener } from './direct/listener.ts';
export { releaseToolCall } from './elsewhere/release-tool-call.ts';
export { type Report, settleToolCall } from './elsewhere/settle-tool-call.ts';
export { type Caller, openCaller } from './open-caller.ts';
export { type ResumeRunOptions, resumeRun } from './recovery/resume-run.ts';
export { type RecoveredSession, recoverSession, resumeToolCall } from './recovery/resume-tool-call.ts';
export type { RecoveryFailure } from './resources/recover.ts';
export { createBudget } from './run/budget.ts';
export { EventStream } from './run/event-stream.ts';
export { type MessageReading, type ReadMessageOptions, readMessage } from './run/read-message.ts';
export { type ReadOneMessageOptions, readOneMessage } from './run/read-one-message.ts';
export type { RunResult } from './run/result.ts';
export { type AgentRun, type RunAgentOptions, runAgent } from './run/run-agent.ts';
