import {
  copyJson,
  deepFreeze,
  isPlainObject,
  type Json,
  type JsonObject,
  modelJsonLimits,
  parseJson,
  type ToolDeclaration,
} from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { checkOutput } from './check-output.ts';
import { coerceValue } from './coerce-value.ts';
import type { ModuleError } from './module-error.ts';
import type { Program } from './program.ts';
import type { Signature } from './signature.ts';
import { cutText } from './tool-outcome.ts';

/** By calling it a model gives its answer. */
export const submitName = 'submit';

/** What came of a call of `submit`. `message` is for the model, `partial` has the outputs that could be used. */
export type SubmitReading =
  | { readonly type: 'accepted'; readonly output: unknown }
  | { readonly type: 'refused'; readonly message: string; readonly partial: JsonObject }
  /** The signature's schema threw. */
  | { readonly type: 'failed'; readonly error: ModuleError };

/** Characters of what is said to be wrong with a submit. */
const maxMessage = 2_000;

/** `submit` as a model is offered it: its arguments are the outputs of the signature. */
export function declareSubmit({ signature, descriptions }: Program): ToolDeclaration {
  const { jsonSchema } = compileSchema(signature.outputSchema);
  const properties = isPlainObject(jsonSchema['properties']) ? jsonSchema['properties'] : {};
  const described = Object.entries(properties).map(([name, property]): [string, Json] => {
    const description = descriptions.get(name);
    return [name, description === undefined || !isPlainObject(property) ? property : { ...property, description }];
  });
  return deepFreeze({
    name: submitName,
    description: 'Gives the final answer and ends the task.',
    inputSchema: { ...jsonSchema, properties: Object.fromEntries(described) },
  });
}

/** Reads what a model has submitted. */
export function readSubmit(raw: unknown, signature: Signature): SubmitReading {
  const decoded = decode(raw);
  if (!decoded.ok) return refused(`The outputs cannot be taken: ${decoded.problem}.`, signature, {});
  const { value } = decoded;
  if (!isPlainObject(value)) return refused('The outputs must be one JSON object.', signature, {});
  const checked = checkOutput(signature, value);
  if (checked.type === 'valid') return { type: 'accepted', output: checked.output };
  if (checked.type === 'failed') return checked;
  const missing = signature.outputs.filter(({ name, required }) => required && !Object.hasOwn(value, name));
  const problem =
    missing.length > 0
      ? `Missing: ${missing.map(({ name }) => `\`${name}\``).join(', ')}.`
      : `Not valid: ${describeIssues(checked.issues)}.`;
  return refused(problem, signature, value);
}

function refused(problem: string, signature: Signature, given: JsonObject): SubmitReading {
  const names = signature.outputs.filter(({ required }) => required).map(({ name }) => `\`${name}\``);
  const again = names.length === 0 ? 'again' : `again with ${names.join(', ')}`;
  const message = `Nothing was submitted. ${cutText(problem, maxMessage)} Call \`${submitName}\` ${again}.`;
  const partial: [string, Json][] = [];
  for (const { name: field, schema } of signature.outputs) {
    if (!Object.hasOwn(given, field)) continue;
    const coerced = coerceValue(given[field] ?? null, schema, { from: 'json' });
    if (coerced.ok) partial.push([field, coerced.value]);
  }
  return { type: 'refused', message, partial: Object.fromEntries(partial) };
}

type Decoded = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

function decode(raw: unknown): Decoded {
  if (raw === undefined || (typeof raw === 'string' && raw.trim() === '')) return { ok: true, value: {} };
  return typeof raw === 'string' ? parseJson(raw) : copyJson(raw, modelJsonLimits);
}
