export { type ApprovalsOptions, approvals } from './approvals.ts';
export { answerIdentical, groupIdentical, type QuestionGroup } from './identical-questions.ts';
