import { HoldfastError, type JsonObject } from '@holdfast/core';
import { copyJson, deepFreeze, isPlainObject } from '@holdfast/core/internal';
import type { Signature, SignatureField } from './signature.ts';

export type PredictorType = 'predict' | 'chain_of_thought' | 'react';

/** A worked example. If fields are missing, it is shown as incomplete. */
export interface Demo {
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
}

/** The texts written for a signature by a person or a tuner. */
export interface Tuning {
  /** Default: that of the signature. */
  readonly instruction?: string | undefined;
  readonly demos?: readonly Demo[] | undefined;
  /** By field; replaces the description in the signature's schemas. */
  readonly descriptions?: Readonly<Record<string, string>> | undefined;
}

/** A signature with its tuned texts: everything in a prompt except the input. Frozen. */
export interface Program<Input = unknown, Output = unknown> {
  readonly signature: Signature<Input, Output>;
  readonly predictorType: PredictorType;
  readonly instruction: string;
  readonly demos: readonly Demo[];
  readonly descriptions: ReadonlyMap<string, string>;
  /** The fields for the model, with their tuned descriptions. */
  readonly inputs: readonly SignatureField[];
  /** Like `inputs`; for `chain_of_thought` they begin with `reasoning`, unless the signature has a field of that name. */
  readonly outputs: readonly SignatureField[];
}

const reasoning: SignatureField = deepFreeze({
  name: 'reasoning',
  description: 'The step-by-step reasoning that leads to the answer.',
  schema: { type: 'string' },
  required: true,
});

/**
 * @throws HoldfastError `modules.invalid` for what is not JSON, or if an input has the name of the field that `chain_of_thought` adds.
 */
export function toProgram<Input, Output>(
  signature: Signature<Input, Output>,
  predictorType: PredictorType,
  { instruction = '', demos = [], descriptions = {} }: Tuning = {},
): Program<Input, Output> {
  const outputs = predictorType === 'chain_of_thought' ? withReasoning(signature) : signature.outputs;
  const written = new Map(Object.entries(descriptions));
  const known = new Set([...signature.inputs, ...outputs].map(({ name }) => name));
  const extra = predictorType === 'react' ? [...step.inputs, ...step.outputs] : [];
  for (const name of written.keys()) {
    if (known.has(name) || extra.includes(name)) continue;
    throw new HoldfastError(
      'modules.invalid',
      `\`descriptions\` has the unknown field \`${name.slice(0, 100)}\`; \`${signature.name}\` has ${listNames(known)}.`,
      { data: { reason: 'description_unknown' } },
    );
  }
  const describe = (field: SignatureField): SignatureField =>
    Object.freeze({ ...field, description: written.get(field.name) ?? field.description });
  return Object.freeze({
    signature,
    predictorType,
    instruction: instruction.trim() === '' ? signature.instruction : instruction,
    demos: Object.freeze(demos.map((demo, index) => copyDemo(demo, `Demo ${index} of \`${signature.name}\``))),
    descriptions: written,
    inputs: Object.freeze(signature.inputs.map(describe)),
    outputs: Object.freeze(outputs.map(describe)),
  });
}

function withReasoning({ name, inputs, outputs }: Signature): readonly SignatureField[] {
  if (outputs.some((field) => field.name === reasoning.name)) return outputs;
  if (inputs.some((field) => field.name === reasoning.name)) {
    throw new HoldfastError(
      'modules.invalid',
      `\`${name}\` has an input \`${reasoning.name}\`, a name that \`chain_of_thought\` uses for its own field. Rename the input.`,
      { data: { reason: 'signature' } },
    );
  }
  return [reasoning, ...outputs];
}

function copyDemo({ inputs, outputs }: Demo, whose: string): Demo {
  return Object.freeze({
    inputs: copyValues(inputs, `${whose}: \`inputs\``),
    outputs: copyValues(outputs, `${whose}: \`outputs\``),
  });
}

function copyValues(values: unknown, whose: string): JsonObject {
  const copied = copyJson(values);
  if (copied.ok && isPlainObject(copied.value)) return copied.value;
  const problem = copied.ok ? 'it is not an object' : copied.problem;
  throw new HoldfastError('modules.invalid', `${whose} must be a JSON object: ${problem}.`, {
    data: { reason: 'demo' },
  });
}

function listNames(names: ReadonlySet<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}

/** Field names beyond those of the signature. */
export interface ExtraNames {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const none: ExtraNames = { inputs: [], outputs: [] };
const tools: ExtraNames = { inputs: ['available_tools', 'context'], outputs: ['tool_call'] };
const thought: ExtraNames = { inputs: [], outputs: ['reasoning'] };
// From DSPy: `dspy/predict/react.py` of stanfordnlp/dspy.
const step: ExtraNames = { inputs: ['trajectory'], outputs: ['next_thought', 'next_tool_name', 'next_tool_args'] };
const ofType: Readonly<Record<PredictorType, ExtraNames>> = { predict: none, chain_of_thought: thought, react: step };

/** The fields that a predictor adds to its signature. */
export function extraNamesOf(predictorType: PredictorType): ExtraNames {
  return ofType[predictorType];
}

/** Like `extraNamesOf`, plus the fields that a tool loop uses for tools and calls, which demos may contain. */
export function extraNamesOfDemos(predictorType: PredictorType, takesTools: boolean): ExtraNames {
  return takesTools && predictorType !== 'react' ? join(ofType[predictorType], tools) : ofType[predictorType];
}

/** Like `extraNamesOfDemos`, for a predictor created in code: it may get tools later, and `react` may use either protocol. */
export function extraNamesOfCode(predictorType: PredictorType): ExtraNames {
  return join(ofType[predictorType], predictorType === 'react' ? thought : tools);
}

/** The fields of the second step of a `react` module. */
export const extraNamesOfExtraction: ExtraNames = { inputs: step.inputs, outputs: thought.outputs };

function join(one: ExtraNames, other: ExtraNames): ExtraNames {
  return { inputs: [...one.inputs, ...other.inputs], outputs: [...one.outputs, ...other.outputs] };
}
