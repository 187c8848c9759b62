import type { Json, JsonObject, Message, ToolDeclaration } from '@holdfast/core';
import { copyJson, deepFreeze, isPlainObject, modelJsonLimits, parseJson } from '@holdfast/core/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { cutText } from '../loop/result.ts';
import { createWriter, renderField } from '../predict/render.ts';
import { coerceValue } from '../signature/coerce.ts';
import type { ModuleError } from '../signature/problems.ts';
import type { Demo, Program } from '../signature/program.ts';
import { checkOutput, type Signature } from '../signature/signature.ts';

/** The tool with which a model gives its answer. */
export const submitName = 'submit';

/** The result of a `submit` call. `message` is for the model; `partial` has the valid outputs. */
export type SubmitReading =
  | { readonly type: 'accepted'; readonly output: unknown }
  | { readonly type: 'refused'; readonly message: string; readonly partial: JsonObject }
  /** The signature's schema threw. */
  | { readonly type: 'failed'; readonly error: ModuleError };

/** The maximum length of the problems in a reply to a submit, in characters. */
const maxMessage = 2_000;

/** The declaration of `submit` for a model: its arguments are the outputs of the signature. */
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

/** Reads the outputs that a model submits. */
export function readSubmit(raw: unknown, signature: Signature): SubmitReading {
  const decoded = decode(raw);
  if (!decoded.ok) return refused(`Cannot read the outputs: ${decoded.problem}.`, signature, {});
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
 * The messages for a model with tools: the same bytes for the same input. Demos with every output are shown as submits; others are left
 * out, because an incomplete submit is rejected.
 */
export function renderNative(program: Program, input: JsonObject): readonly Message[] {
  const write = createWriter(program);
  const needed = program.outputs.filter(({ required }) => required);
  const outputs = (needed.length === 0 ? program.outputs : needed).map(({ name }) => `\`${name}\``).join(', ');
  const given = program.inputs.length === 0 ? [] : [['Your input:', ...program.inputs.map(renderField)].join('\n')];
  const manner = [
    `You are an agent. Call tools to find out or do what is needed; one message may contain several calls. When you have ${outputs}, call \`${submitName}\` with them.`,
    `A message without a call does not count as an answer. A valid call of \`${submitName}\` ends the task.`,
  ].join(' ');
  return Object.freeze([
    { role: 'system', text: [...given, manner, `Your task:\n${program.instruction}`].join('\n\n') },
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
