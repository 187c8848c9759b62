import type { SchemaIssue } from '@holdfast/core/types';

export type { CompiledSchema, SchemaIssue, Validation } from '@holdfast/core/types';

/** Formats `issues` as one line for people and models. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const texts = issues.map(({ path, message }) => (path === '' ? message : `\`${path}\`: ${message}`));
  return texts.map((text, index) => (index < texts.length - 1 ? text.replace(/\.$/, '') : text)).join('; ');
}
