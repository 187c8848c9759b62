import { copyJson, deepFreeze, HoldfastError, isPlainObject, type JsonObject } from '@holdfast/core';
import type { Signature, SignatureField } from './signature.ts';

export type PredictorType = 'predict' | 'chain_of_thought' | 'react';

/** One worked example. Fields may be missing; then it is shown as incomplete. */
export interface Demo {
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
}

/** What has been written for a signature, by a person or a tuner. */
export interface Tuning {
  /** Default: the signature's. */
  readonly instruction?: string | undefined;
  readonly demos?: readonly Demo[] | undefined;
  /** By field, in place of what the signature's schemas say. */
  readonly descriptions?: Readonly<Record<string, string>> | undefined;
}

/** A signature with what has been written for it: all that a prompt is made of, beside the input. Frozen. */
export interface Program<Input = unknown, Output = unknown> {
  readonly signature: Signature<Input, Output>;
  readonly predictorType: PredictorType;
  readonly instruction: string;
  readonly demos: readonly Demo[];
  readonly descriptions: ReadonlyMap<string, string>;
  /** As the model is shown them, with their tuned descriptions. */
  readonly inputs: readonly SignatureField[];
  /** As `inputs`; those of `chain_of_thought` begin with `reasoning`, unless the signature has a field of that name. */
  readonly outputs: readonly SignatureField[];
}

const reasoning: SignatureField = deepFreeze({
  name: 'reasoning',
  description: 'How the answer is found, step by step.',
  schema: { type: 'string' },
  required: true,
});

/**
 * @throws HoldfastError `modules.description_unknown`, `modules.demo_invalid` (no JSON), and `modules.signature_invalid` where an input
 * has the name of the field that `chain_of_thought` adds.
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
      'modules.description_unknown',
      `\`${name.slice(0, 100)}\` is described, and \`${signature.name}\` has no such field; it has ${listNames(known)}.`,
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
      'modules.signature_invalid',
      `\`${name}\` has an input \`${reasoning.name}\`, which is what a chain of thought calls its own field; rename the input.`,
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
  const problem = copied.ok ? 'it is no object' : copied.problem;
  throw new HoldfastError('modules.demo_invalid', `${whose} must be an object of JSON: ${problem}.`);
}

function listNames(names: ReadonlySet<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}

/** Names beside those of the signature. */
export interface ExtraNames {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const none: ExtraNames = { inputs: [], outputs: [] };
const tools: ExtraNames = { inputs: ['available_tools', 'context'], outputs: ['tool_call'] };
const thought: ExtraNames = { inputs: [], outputs: ['reasoning'] };
// Of DSPy: `dspy/predict/react.py` of stanfordnlp/dspy.
const step: ExtraNames = { inputs: ['trajectory'], outputs: ['next_thought', 'next_tool_name', 'next_tool_args'] };
const ofType: Readonly<Record<PredictorType, ExtraNames>> = { predict: none, chain_of_thought: thought, react: step };

/** The fields that a predictor has beside those of its signature. */
export function extraNamesOf(predictorType: PredictorType): ExtraNames {
  return ofType[predictorType];
}

/** As `extraNamesOf`, with the fields by which a tool loop tells of tools and is asked for calls: demos may show them. */
export function extraNamesOfDemos(predictorType: PredictorType, takesTools: boolean): ExtraNames {
  return takesTools && predictorType !== 'react' ? join(ofType[predictorType], tools) : ofType[predictorType];
}

/** As `extraNamesOfDemos`, for a predictor that is made in code: it may get tools later, and either protocol of `react` its demos. */
export function extraNamesOfCode(predictorType: PredictorType): ExtraNames {
  return join(ofType[predictorType], predictorType === 'react' ? thought : tools);
}

/** Of the second step of a `react` module. */
export const extraNamesOfExtraction: ExtraNames = { inputs: step.inputs, outputs: thought.outputs };

function join(one: ExtraNames, other: ExtraNames): ExtraNames {
  return { inputs: [...one.inputs, ...other.inputs], outputs: [...one.outputs, ...other.outputs] };
}
