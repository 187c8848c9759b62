import { HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { deepFreeze } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import type { ToolListing } from '../loop/tool-catalog.ts';
import { parseAnswer } from '../predict/parse-answer.ts';
import { type Program, type Tuning, toProgram } from '../signature/program.ts';
import type { Signature, SignatureField } from '../signature/signature.ts';

/** The tool with which a model ends its steps. */
export const finishName = 'finish';

const trajectoryField: SignatureField = deepFreeze({
  name: 'trajectory',
  description: 'Your thoughts, calls and observations so far.',
  schema: { type: 'string' },
  required: true,
});
const thoughtField: SignatureField = deepFreeze({
  name: 'next_thought',
  description: '',
  schema: { type: 'string' },
  required: true,
});
const nameField: SignatureField = deepFreeze({
  name: 'next_tool_name',
  description: '',
  schema: { type: 'string' },
  required: true,
});
const argsField: SignatureField = deepFreeze({
  name: 'next_tool_args',
  description: '',
  schema: { type: 'object', additionalProperties: true },
  required: true,
});
const stepFields: readonly SignatureField[] = Object.freeze([thoughtField, nameField, argsField]);

/** Arguments that are not JSON are left for the call path to reject. */
const argsAsWritten: SignatureField = deepFreeze({ ...argsField, schema: { type: 'string' } });
const readFields: readonly SignatureField[] = Object.freeze(
  stepFields.map((field) => Object.freeze({ ...field, required: field === nameField })),
);

/** The two programs of the text protocol: one asks for the next step, the other extracts the answer. */
export interface TextPrograms {
  /** The program for the given tools: the same one as long as the list is the same. */
  readonly step: (tools: readonly ToolListing[]) => Program;
  readonly extract: Program;
}

export interface TextTuning extends Tuning {
  /** `instruction` already lists the tools, so it is used unchanged. */
  readonly listsTools: boolean;
  readonly extract: Tuning;
}

/**
 * Source of the fields: DSPy `dspy/predict/react.py`, as of version 3.0.
 *
 * @throws HoldfastError `modules.invalid` if the signature has a field with one of their names, and as `toProgram`.
 */
export function createTextPrograms<Input, Output>(
  signature: Signature<Input, Output>,
  { listsTools, extract, instruction, demos = [], descriptions = {} }: TextTuning,
): TextPrograms {
  const own = [...signature.inputs, ...signature.outputs].map(({ name }) => name);
  for (const { name } of [trajectoryField, ...stepFields]) {
    if (!own.includes(name)) continue;
    throw new HoldfastError(
      'modules.invalid',
      `\`${signature.name}\` has a field \`${name}\`, which \`react\` uses for its steps. Rename the field.`,
      { data: { reason: 'signature' } },
    );
  }
  const inputs = Object.freeze([...signature.inputs, trajectoryField]);
  const inputSchema = jsonSchema({
    type: 'object',
    // The signature's own schema has already checked them.
    properties: Object.fromEntries(inputs.map(({ name }) => [name, {}])),
  });
  const task = instruction === undefined || instruction.trim() === '' ? signature.instruction : instruction;
  const stepSignature: Signature = { ...signature, inputs, inputSchema, outputs: stepFields, outputSchema: anything };
  const extractSignature: Signature = { ...signature, inputs, inputSchema };
  const described = (program: Signature): Readonly<Record<string, string>> => {
    const known = new Set([...program.inputs, ...program.outputs].map(({ name }) => name));
    return Object.fromEntries(Object.entries(descriptions).filter(([name]) => known.has(name)));
  };
  const stepTuning = { demos, descriptions: described(stepSignature) };
  let known: { readonly tools: readonly ToolListing[]; readonly program: Program } | undefined;
  return {
    step(tools) {
      if (known?.tools === tools) return known.program;
      const listed = listsTools ? task : `${task}\n\n${describeSteps(signature, tools)}`;
      const program = toProgram(stepSignature, 'react', { ...stepTuning, instruction: listed });
      known = { tools, program };
      return program;
    },
    extract: toProgram(extractSignature, 'chain_of_thought', {
      ...extract,
      instruction: extract.instruction ?? (listsTools ? signature.instruction : task),
      descriptions: { ...described(extractSignature), ...extract.descriptions },
    }),
  };
}

const anything = jsonSchema({ type: 'object', additionalProperties: true });

function describeSteps({ inputs, outputs }: Signature, tools: readonly ToolListing[]): string {
  const listed = (fields: readonly SignatureField[]): string => fields.map(({ name }) => `\`${name}\``).join(', ');
  const given = inputs.length === 0 ? '' : `${listed(inputs)} and `;
  const all = [...tools.filter(({ name }) => name !== finishName), finish(listed(outputs))];
  return [
    `You are an agent and work one step at a time. You get ${given}the results of your earlier steps in \`trajectory\`. Call tools to collect what you need for ${listed(outputs)}.`,
    'In each step, write a `next_thought` about where you are and what to do next, the name of one tool in `next_tool_name`, and its arguments as a JSON object in `next_tool_args`. The result of the call is added to the trajectory.',
    'The available tools are:',
    all.map(describeTool).join('\n'),
  ].join('\n\n');
}

function finish(outputs: string): ToolListing {
  return {
    name: finishName,
    description: `Ends the steps. Call it when you have everything you need for ${outputs}.`,
    args_schema: null,
  };
}

function describeTool({ name, description, args_schema: schema }: ToolListing, index: number): string {
  const told = description.trim() === '' ? '' : ` ${description.trim().replaceAll(/\s+/g, ' ')}`;
  const taken = schema === null ? 'Takes no arguments.' : `Arguments, as JSON Schema: ${JSON.stringify(schema)}`;
  return `(${index + 1}) \`${name}\`:${told} ${taken}`;
}

/** The model's next step, as written. */
export interface NextStep {
  readonly thought: string;
  readonly toolName: string | undefined;
  /** A value, or text that is not a JSON object. */
  readonly toolArgs: Json;
}

export function readStep(text: string): NextStep {
  const { values, problems } = parseAnswer(text, readFields);
  const raw = problems.some(({ field }) => field === argsField.name)
    ? parseAnswer(text, [thoughtField, nameField, argsAsWritten]).values
    : values;
  const name = textOf(values, nameField).trim();
  return {
    thought: textOf(values, thoughtField),
    toolName: name === '' ? undefined : name,
    toolArgs: Object.hasOwn(raw, argsField.name) ? (raw[argsField.name] ?? {}) : {},
  };
}

function textOf(values: JsonObject, { name }: SignatureField): string {
  const value = Object.hasOwn(values, name) ? values[name] : '';
  return typeof value === 'string' ? value : '';
}

/** Formats arguments for the trajectory. */
export function showArgs(args: Json): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

/** One step of the text protocol: the model's thought and call, and the result. */
export interface Step {
  readonly thought: string;
  readonly toolName: string;
  /** As the model wrote them. */
  readonly toolArgs: string;
  readonly observation: string;
}

/**
 * Renders the steps for a model. Numbers do not change when older steps are left out.
 *
 * Source of the structure: DSPy `dspy/predict/react.py`, as of version 3.0: `thought_0`, `tool_name_0`, `tool_args_0`, `observation_0`, and
 * the headers of its chat format.
 */
export function renderTrajectory(steps: readonly Step[], leftOut = 0): string {
  return steps
    .slice(leftOut)
    .flatMap(({ thought, toolName, toolArgs, observation }, index) => {
      const at = leftOut + index;
      return [
        renderField(`thought_${at}`, thought),
        renderField(`tool_name_${at}`, toolName),
        renderField(`tool_args_${at}`, toolArgs),
        renderField(`observation_${at}`, observation.replaceAll(header, '[\\u005b')),
      ];
    })
    .join('\n\n');
}

/** A step header within the text of a tool is broken up, so that it cannot pass for another step. */
const header = /\[\[(?=\s*#+\s*(?:thought|tool_name|tool_args|observation)[_ ]\d)/giu;

function renderField(name: string, text: string): string {
  return `[[ ## ${name} ## ]]\n${text}`;
}
