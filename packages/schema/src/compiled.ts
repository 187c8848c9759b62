import type { JsonObject } from '@holdfast/core';

/** A compiled schema. */
export interface CompiledSchema<Output = unknown> {
  /** Synchronous. Rejects undeclared keys and fills in defaults, without changing the input. */
  validate(value: unknown): Validation<Output>;
  /**
   * Fast path: parses and validates JSON text in one walk. `undefined` if anything needs a closer look by `validate`,
   * even if it turns out valid. `decoded` is the parsed text before defaults.
   */
  readonly read?: ((text: string) => { readonly value: Output; readonly decoded: unknown } | undefined) | undefined;
  /** The schema shown to models: closed objects have `additionalProperties: false`. Frozen. */
  readonly jsonSchema: JsonObject;
}

export type Validation<Output = unknown> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  /** E.g. `a.b[0]`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Formats `issues` as one line for people and models. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const texts = issues.map(({ path, message }) => (path === '' ? message : `\`${path}\`: ${message}`));
  return texts.map((text, index) => (index < texts.length - 1 ? text.replace(/\.$/, '') : text)).join('; ');
}
