export { type CallBudgetOptions, callBudget } from './call-budget.ts';
export { every, some } from './combinators.ts';
export { type ReadBeforeWriteOptions, readBeforeWrite } from './read-before-write.ts';
export { type RequireApprovalOptions, requireApproval } from './require-approval.ts';
export { type SequentialDependencyOptions, sequentialDependency } from './sequential-dependency.ts';
