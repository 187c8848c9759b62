import { HoldfastError } from '@holdfast/core';
import { describeIssues, type SchemaIssue } from '@holdfast/schema';
import type { HoldfastConfig } from './config.ts';
import { checkHostConfig } from './config-schema.ts';

/**
 * Declares the configuration that `holdfast.config.ts` exports as its default. The answer is a frozen copy.
 *
 * @throws HoldfastError `config.invalid` with everything that is wrong, also in `data.problems`.
 */
export function defineConfig(config: HoldfastConfig): HoldfastConfig {
  return takeConfig(config, 'The configuration');
}

/** As `defineConfig`; `what` is what the error is about. */
export function takeConfig(value: unknown, what: string): HoldfastConfig {
  const checked = checkHostConfig(value);
  if (checked.ok) return checked.config;
  throw invalidConfig('config.invalid', what, checked.problems);
}

const shownProblems = 20;

export function invalidConfig(
  code: 'config.invalid' | 'config.policy.invalid',
  what: string,
  problems: readonly SchemaIssue[],
): HoldfastError {
  const more = problems.length > shownProblems ? `; and ${problems.length - shownProblems} more` : '';
  return new HoldfastError(
    code,
    `${what} is not right, and nothing is run with it: ${describeIssues(problems.slice(0, shownProblems))}${more}.`,
    { data: { problems: problems.slice(0, shownProblems).map(({ path, message }) => ({ path, message })) } },
  );
}
