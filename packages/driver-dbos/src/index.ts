export {
  type ApprovalMessage,
  approvalTopic,
  registerSessionWorkflow,
  type SessionResult,
  type SessionWorkflow,
  type SessionWorkflowOptions,
} from './session-workflow.ts';
