import { copyJson, isToolResult, type Redactor } from '@holdfast/core';
import { marksSecrets, secretsIn } from '@holdfast/session';
import type { CompiledTool } from './toolset.ts';

/** Lets `redactor` know the secret values of a call before anything tells of it. `given`: as it came, text or value. */
export function learnArguments(
  redactor: Redactor | undefined,
  compiled: CompiledTool | undefined,
  given: unknown,
): void {
  if (redactor === undefined || compiled === undefined) return;
  for (const secret of secretsIn(compiled.input?.jsonSchema, given)) redactor.learn(secret);
}

/** Lets `redactor` know the secret values of what a tool returned, a result or a value: whatever becomes of it is told of. */
export function learnReturned(
  redactor: Redactor | undefined,
  compiled: CompiledTool | undefined,
  returned: unknown,
): void {
  if (redactor === undefined || compiled?.output === undefined) return;
  const { jsonSchema } = compiled.output;
  if (!marksSecrets(jsonSchema)) return;
  try {
    const copied = copyJson(isToolResult(returned) ? returned.value : returned);
    if (copied.ok) for (const secret of secretsIn(jsonSchema, copied.value)) redactor.learn(secret);
  } catch {
    // What cannot be read is in no record either.
  }
}
