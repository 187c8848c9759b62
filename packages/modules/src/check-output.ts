import { describeThrown, isPlainObject, type JsonObject } from '@holdfast/core';
import { compileSchema, type SchemaIssue } from '@holdfast/schema';
import { type ModuleError, moduleError } from './module-error.ts';
import type { Signature } from './signature.ts';

/** What a signature's schema says of outputs. */
export type OutputCheck<Output> =
  | { readonly type: 'valid'; readonly output: Output }
  | { readonly type: 'wrong'; readonly issues: readonly SchemaIssue[] }
  /** It threw. What it said is for the host alone, and asking a model again would not help. */
  | { readonly type: 'failed'; readonly error: ModuleError };

/** Never throws: a schema of a host runs code of the host. What it makes is frozen as far as it is plain. */
export function checkOutput<Output>(
  { name, outputSchema }: Signature<unknown, Output>,
  output: JsonObject,
): OutputCheck<Output> {
  try {
    const validation = compileSchema(outputSchema).validate(output);
    if (!validation.ok) return { type: 'wrong', issues: validation.issues };
    freezePlain(validation.value);
    return { type: 'valid', output: validation.value };
  } catch (cause) {
    const reason = describeThrown(cause).slice(0, 2_000);
    const error = moduleError(
      'modules.output_unparsable',
      `The outputs of \`${name}\` could not be checked, as their schema threw: ${reason}`,
      { data: { missing: [], problems: [], recoverable: false }, cause },
    );
    return { type: 'failed', error };
  }
}

/** Not what a schema has made of its own, as a date or bytes. */
function freezePlain(value: unknown): void {
  if (!(Array.isArray(value) || isPlainObject(value)) || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freezePlain(inner);
}
