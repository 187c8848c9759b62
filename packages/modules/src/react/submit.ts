import {
  copyJson,
  deepFreeze,
  isPlainObject,
  type Json,
  type JsonObject,
  type Message,
  modelJsonLimits,
  parseJson,
  type ToolDeclaration,
} from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { cutText } from '../loop/result.ts';
import { createWriter, renderField } from '../predict/render.ts';
import { coerceValue } from '../signature/coerce.ts';
import type { ModuleError } from '../signature/problems.ts';
import type { Demo, Program } from '../signature/program.ts';
import { checkOutput, type Signature } from '../signature/signature.ts';

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

/**
 * What a model that is offered tools is asked with: the same bytes for the same input. Demos that have every output are shown as submits;
 * others cannot be, as an incomplete submit is refused.
 */
export function renderNative(program: Program, input: JsonObject): readonly Message[] {
  const write = createWriter(program);
  const needed = program.outputs.filter(({ required }) => required);
  const outputs = (needed.length === 0 ? program.outputs : needed).map(({ name }) => `\`${name}\``).join(', ');
  const given = program.inputs.length === 0 ? [] : [['You are given:', ...program.inputs.map(renderField)].join('\n')];
  const manner = [
    `You work as an agent: call tools to find out or do what is needed, several in one message if you like. When you know ${outputs}, call \`${submitName}\` with them.`,
    `A message without a call is no answer, and a call of \`${submitName}\` that is taken ends the task.`,
  ].join(' ');
  return Object.freeze([
    { role: 'system', text: [...given, manner, `What you have to do:\n${program.instruction}`].join('\n\n') },
    ...program.demos.filter((demo) => isComplete(demo, program)).flatMap((demo, index) => renderDemo(demo, index)),
    { role: 'user', text: ask(input) },
  ]);

  function ask(values: JsonObject, absent?: string): string {
    const written = write(program.inputs, values, absent);
    return written.length === 0 ? 'Begin.' : written.join('\n\n');
  }

  function renderDemo({ inputs, outputs: given }: Demo, index: number): readonly Message[] {
    const callId = `demo_${index}`;
    const known = program.outputs.filter(({ name }) => Object.hasOwn(given, name));
    const submitted = Object.fromEntries(known.map(({ name }) => [name, given[name] ?? null]));
    return [
      { role: 'user', text: ask(inputs, '(not given in this example)') },
      { role: 'assistant', text: '', calls: [{ id: callId, name: submitName, arguments: submitted }] },
      { role: 'tool', callId, name: submitName, success: true, text: 'Submitted.' },
    ];
  }
}

function isComplete({ inputs, outputs }: Demo, program: Program): boolean {
  const hasInput = program.inputs.length === 0 || program.inputs.some(({ name }) => Object.hasOwn(inputs, name));
  return hasInput && program.outputs.every(({ name, required }) => !required || Object.hasOwn(outputs, name));
}
