import type { StandardResult } from '@holdfast/core';
import { type Config, type GenericIssue, type GenericSchema, getGlobalConfig } from 'valibot';
import type { SchemaIssue } from './compiled.ts';

/** Whoever has to correct a value reads no more of them, and a log need not hold more. */
export const maxIssues = 50;

/** The first issues, and that there are more. `issues` may itself stop at `maxIssues` or later. */
export function cutIssues(issues: readonly SchemaIssue[]): readonly SchemaIssue[] {
  if (issues.length < maxIssues) return issues;
  return [...issues.slice(0, maxIssues - 1), { path: '', message: 'More issues are not listed.' }];
}

/** The `validate` of a valibot schema, which gives up after some issues: a list may have as many wrong items as fit into an argument. */
export function validateBounded(schema: GenericSchema): (value: unknown) => StandardResult<unknown> {
  const config = new BoundedConfig();
  // As its own `validate` does, with another configuration.
  return (value) => schema['~run']({ value }, config.begin()) as StandardResult<unknown>;
}

/** Asks to stop when it has been asked often whether to: valibot asks at every issue, and at nothing else. */
class BoundedConfig implements Config<GenericIssue> {
  lang: string | undefined;
  message: Config<GenericIssue>['message'];
  abortPipeEarly: boolean | undefined;
  #abortEarly: boolean | undefined;
  #asked = 0;

  begin(): this {
    ({
      lang: this.lang,
      message: this.message,
      abortPipeEarly: this.abortPipeEarly,
      abortEarly: this.#abortEarly,
    } = getGlobalConfig());
    this.#asked = 0;
    return this;
  }

  get abortEarly(): boolean {
    this.#asked += 1;
    // For an issue it is asked twice at least: by what has it, and by what that is in.
    return this.#abortEarly === true || this.#asked > 2 * maxIssues;
  }
}
