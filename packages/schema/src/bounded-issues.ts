import type { SchemaIssue } from './compiled.ts';

/** Enough to correct a value; keeps logs short. */
export const maxIssues = 50;

/** Cuts a list after the first issues and says so. `issues` may itself stop at `maxIssues` or later. */
export function cutIssues(issues: readonly SchemaIssue[]): readonly SchemaIssue[] {
  if (issues.length < maxIssues) return issues;
  return [...issues.slice(0, maxIssues - 1), { path: '', message: 'More issues are not listed.' }];
}
