export { type ApprovalRule, type ApprovalsOptions, approvals, type ToolChoice } from './approvals.ts';
export { answerIdentical, groupIdentical, type Question, type QuestionGroup } from './identical-questions.ts';
