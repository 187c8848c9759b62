import type { SchemaIssue } from './compiled.ts';

/** Whoever has to correct a value reads no more of them, and a log need not hold more. */
export const maxIssues = 50;

/** The first issues, and that there are more. `issues` may itself stop at `maxIssues` or later. */
export function cutIssues(issues: readonly SchemaIssue[]): readonly SchemaIssue[] {
  if (issues.length < maxIssues) return issues;
  return [...issues.slice(0, maxIssues - 1), { path: '', message: 'More issues are not listed.' }];
}
