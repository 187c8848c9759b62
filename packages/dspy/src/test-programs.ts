import type { Json, JsonObject, Tool } from '@holdfast/core';
import { defineSignature, type Signature } from '@holdfast/modules';
import type { PredictorType } from '@holdfast/modules/internal';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { type DspyPredictorKind, inferDspyPrefix, listDspyFields, placeholder } from './fields.ts';
import { joinPath } from './findings.ts';
import { toolNamed } from './test-states.ts';

/** A DSPy program and everything in its state file. */
export interface RandomProgram {
  /** As `exportDspy` writes it, byte for byte. */
  readonly text: string;
  /** By module path. */
  readonly signatures: Readonly<Record<string, Signature>>;
  /** The field names, by predictor path. */
  readonly predictors: Readonly<Record<string, readonly string[]>>;
  readonly tools: readonly Tool[];
}

interface RandomField {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'array';
}

interface RandomModule {
  readonly kind: PredictorType;
  readonly path: string;
  readonly inputs: readonly RandomField[];
  readonly outputs: readonly RandomField[];
  readonly steps: readonly RandomStep[];
}

/** The random parts of one predictor; lists are indexed by field and start over if they are too short. */
interface RandomStep {
  readonly instructions: string;
  readonly written: readonly { readonly prefix: string | undefined; readonly description: string | undefined }[];
  readonly demos: readonly (readonly { readonly isThere: boolean; readonly text: string; readonly number: number }[])[];
}

const line = fc.string({ unit: 'grapheme', maxLength: 30 });
const fieldName = fc
  .stringMatching(/^[a-z][a-zA-Z0-9]{0,8}(?:_[a-zA-Z0-9]{1,6}){0,2}$/)
  .filter((name) => !taken.has(name));
const taken = new Set(['completed', 'reasoning', 'trajectory', 'next_thought', 'next_tool_name', 'next_tool_args']);
const field = fc.record({ name: fieldName, type: fc.constantFrom('string', 'integer', 'array') });

const step: fc.Arbitrary<RandomStep> = fc.record({
  instructions: line,
  written: fc.array(
    fc.record({
      prefix: fc.option(fc.constantFrom('QUERY>', 'what is asked', '«»'), { nil: undefined, freq: 3 }),
      description: fc.option(
        line.map((text) => `About ${text.trim()}.`),
        { nil: undefined },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  demos: fc.array(
    fc.array(fc.record({ isThere: fc.boolean(), text: line, number: fc.integer() }), { minLength: 1, maxLength: 6 }),
    { maxLength: 3 },
  ),
});

const path = fc.oneof(
  fc.stringMatching(/^[a-z_][a-z0-9_]{0,6}$/),
  fc.stringMatching(/^[a-z]{1,4}\[[0-9]\]$/),
  fc.stringMatching(/^[a-z]{1,4}\['[^'\\]{0,5}'\](?:\.[a-z]{1,4})?$/),
);

const module: fc.Arbitrary<RandomModule> = fc
  .record({
    kind: fc.constantFrom<PredictorType>('predict', 'chain_of_thought', 'react'),
    path: path.filter((one) => !/metadata|demos|predict|react|extract|signature|dependency_versions/.test(one)),
    // Prefixes identify fields regardless of case.
    fields: fc.uniqueArray(field, {
      minLength: 2,
      maxLength: 5,
      selector: ({ name }) => name.replaceAll('_', '').toLowerCase(),
    }),
    inputCount: fc.integer({ min: 0, max: 3 }),
    steps: fc.tuple(step, step),
  })
  .map(({ kind, path: where, fields, inputCount, steps }) => {
    const split = Math.min(inputCount, fields.length - 1);
    return { kind, path: where, inputs: fields.slice(0, split), outputs: fields.slice(split), steps };
  });

const toolNames = ['look_up', 'list_rooms'];

/** Programs that are a single module, or have several. `described`: the signatures describe their fields. */
export function randomPrograms({
  described = false,
}: {
  readonly described?: boolean;
} = {}): fc.Arbitrary<RandomProgram> {
  const several = fc.uniqueArray(module, { minLength: 1, maxLength: 4, selector: (one) => one.path });
  const one = module.map((single) => [{ ...single, path: '' }]);
  return fc.oneof(one, several).map((modules) => toProgram(modules, described));
}

function toProgram(modules: readonly RandomModule[], described: boolean): RandomProgram {
  const states = new Map<string, JsonObject>();
  const predictors = new Map<string, readonly string[]>();
  const signatures = modules.map((one, index) => [one.path, toSignature(one, `test.${index}`, described)] as const);
  for (const [index, one] of modules.entries()) {
    const signature = signatures[index]?.[1];
    for (const [kind, end, random] of stepsOf(one)) {
      if (signature === undefined || random === undefined) continue;
      const fields = listDspyFields(kind, signature);
      const where = joinPath(one.path, end);
      states.set(where, toState(kind, fields, random));
      predictors.set(
        where,
        fields.map(({ name }) => name),
      );
    }
  }
  const single = states.get('');
  const metadata = { dependency_versions: { python: '3.13', dspy: '3.1.0', cloudpickle: '3.1' } };
  return {
    text: `${JSON.stringify({ ...(single ?? Object.fromEntries(states)), metadata }, undefined, 2)}\n`,
    signatures: Object.fromEntries(signatures),
    predictors: Object.fromEntries(predictors),
    tools: toolNames.map(toolNamed),
  };
}

function stepsOf({
  kind,
  steps: [first, second],
}: RandomModule): readonly [DspyPredictorKind, string, RandomStep | undefined][] {
  if (kind === 'predict') return [['predict', '', first]];
  if (kind === 'chain_of_thought') return [['chain_of_thought', 'predict', first]];
  return [
    ['react', 'react', first],
    ['extract', 'extract.predict', second],
  ];
}

function toSignature({ inputs, outputs }: RandomModule, name: string, described: boolean): Signature {
  const toSchema = (fields: readonly RandomField[]): JsonObject => ({
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name: one, type }) => [one, { type, ...(described ? { description: `The ${one}.` } : {}) }]),
    ),
  });
  return defineSignature({
    name,
    instruction: 'Do it.',
    inputSchema: jsonSchema(toSchema(inputs)),
    outputSchema: jsonSchema(toSchema(outputs)),
  });
}

function toState(
  kind: DspyPredictorKind,
  fields: ReturnType<typeof listDspyFields>,
  { instructions, written, demos }: RandomStep,
): JsonObject {
  const lists = toolNames.map((name, index) => `\n(${index + 1}) ${name}. It takes arguments {}.`).join('');
  return {
    traces: [],
    train: [],
    demos: demos.map((values) =>
      Object.fromEntries(
        fields.flatMap(({ name, schema }, index) => {
          const value = values[index % values.length];
          return value?.isThere === true ? [[name, toValue(name, schema, value)]] : [];
        }),
      ),
    ),
    signature: {
      instructions: kind === 'react' ? `${instructions}${lists}` : instructions,
      fields: fields.map(({ name }, index) => {
        const { prefix, description } = written[index % written.length] ?? {};
        // With both written, nothing of the name is left.
        const isWritten = prefix !== undefined && description === undefined;
        return { prefix: isWritten ? prefix : inferDspyPrefix(name), description: description ?? placeholder(name) };
      }),
    },
    lm: null,
  };
}

function toValue(
  name: string,
  { type }: JsonObject,
  { text, number }: { readonly text: string; readonly number: number },
): Json {
  if (name === 'next_tool_name') return number % 2 === 0 ? 'finish' : 'look_up';
  if (type === 'integer') return number;
  if (type === 'object') return { text };
  return type === 'array' ? [text, number] : text;
}
