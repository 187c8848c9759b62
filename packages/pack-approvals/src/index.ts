export { type ApprovalRule, type ApprovalsOptions, approvals, type CallChoice } from './approvals.ts';
export { answerIdentical, groupIdentical, type Question, type QuestionGroup } from './identical-questions.ts';
