import type { JsonObject } from '@holdfast/core';

/** A schema made ready once. */
export interface CompiledSchema<Output = unknown> {
  /** Synchronous. Undeclared keys are refused, defaults are filled in; the value given is not changed. */
  validate(value: unknown): Validation<Output>;
  /**
   * Parses and validates text in one walk, where everything in it is plainly right. `undefined`: it has to be parsed and validated
   * with care, which may still find nothing wrong. `decoded`: as the text has it.
   */
  readonly read?: ((text: string) => { readonly value: Output; readonly decoded: unknown } | undefined) | undefined;
  /** What a model is shown: closed objects say `additionalProperties: false`. Frozen. */
  readonly jsonSchema: JsonObject;
}

export type Validation<Output = unknown> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  /** `a.b[0]`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** `issues` as one line for people and models. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const texts = issues.map(({ path, message }) => (path === '' ? message : `\`${path}\`: ${message}`));
  return texts.map((text, index) => (index < texts.length - 1 ? text.replace(/\.$/, '') : text)).join('; ');
}
