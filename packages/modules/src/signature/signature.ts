import { HoldfastError, type Json, type JsonObject, type Schema, type StandardSchema } from '@holdfast/core';
import { deepFreeze, describeThrown, isPlainObject } from '@holdfast/core/internal';
import type { JsonSchemaDefinition } from '@holdfast/core/types';
import { type CompiledSchema, compileSchema, type SchemaIssue } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { type ModuleError, moduleError } from './problems.ts';

/** A field of a signature, from a property of its schema. */
export interface SignatureField {
  /** Letters, digits and `_`, at most 64. */
  readonly name: string;
  /** The `description` of the property, or `''`. */
  readonly description: string;
  /** The JSON Schema of a value, without the description; includes the `$defs` of the whole schema if it refers to them. */
  readonly schema: JsonObject;
  /** It has to be there. */
  readonly required: boolean;
}

/** A schema whose `Input` is the type before parsing, so that a field with a default may be absent. */
export type InputSchema<Input = unknown> = StandardSchema<Input, unknown> | JsonSchemaDefinition<Input>;

/** The inputs and outputs of a predictor. Frozen. */
export interface Signature<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly instruction: string;
  readonly inputSchema: InputSchema<Input>;
  readonly outputSchema: Schema<Output>;
  /** In the order of the schema's properties. */
  readonly inputs: readonly SignatureField[];
  readonly outputs: readonly SignatureField[];
}

export interface SignatureDefinition<Input, Output> {
  /** The name used by module files. Letters, digits, `.`, `_` and `-`, at most 128. */
  readonly name: string;
  /** The task. Default: a sentence that lists the inputs and outputs by name. */
  readonly instruction?: string;
  /** Must describe an object with declared properties, whose descriptions are shown to the model. */
  readonly inputSchema: InputSchema<Input>;
  readonly outputSchema: Schema<Output>;
}

const signatureName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** Excludes the key that JSON from a model must not have. */
const fieldName = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** The end marker of an answer, in any case. */
const endOfAnswer = 'completed';

/**
 * Declares the inputs and outputs of a predictor.
 *
 * @throws HoldfastError `modules.invalid` (an invalid name, a schema that is not an object with properties, a field name that
 * cannot be a header, a duplicate name, a field whose JSON Schema cannot be used alone), and the errors of compiling a schema.
 */
export function defineSignature<Input, Output>(
  definition: SignatureDefinition<Input, Output>,
): Signature<Input, Output> {
  const { name, inputSchema, outputSchema } = definition;
  if (!signatureName.test(name)) {
    throw invalid(
      `\`${name.slice(0, 150)}\` is not a valid signature name. Use letters, digits, \`.\`, \`_\` and \`-\`.`,
    );
  }
  const inputs = readFields(compileSchema(inputSchema), `The input of \`${name}\``);
  const outputs = readFields(compileSchema(outputSchema), `The output of \`${name}\``);
  if (outputs.length === 0) throw invalid(`The output of \`${name}\` has no fields. Declare at least one.`);
  for (const { name: output } of outputs) {
    if (output.toLowerCase() === endOfAnswer)
      throw invalid(`\`${name}\`: \`${output}\` cannot be the name of an output.`);
    if (inputs.some((input) => input.name === output))
      throw invalid(`\`${name}\`: \`${output}\` is both an input and an output. Rename one of them.`);
  }
  const instruction = definition.instruction?.trim() ?? '';
  return Object.freeze({
    name,
    instruction: instruction === '' ? describeTask(inputs, outputs) : instruction,
    inputSchema,
    outputSchema,
    inputs,
    outputs,
  });
}

function readFields({ jsonSchema: whole }: CompiledSchema, whose: string): readonly SignatureField[] {
  const { properties, required, $defs, definitions } = whole;
  if (whole['type'] !== 'object' || !isPlainObject(properties)) {
    throw invalid(`${whose} must be the schema of an object with properties.`);
  }
  const needed = new Set(Array.isArray(required) ? required : []);
  const shared: JsonObject = {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  return Object.freeze(
    Object.entries(properties).map(([name, property]) => {
      if (!fieldName.test(name))
        throw invalid(`${whose}: \`${name.slice(0, 100)}\` is not a valid field name. Use letters, digits and \`_\`.`);
      const field = toField(name, property as Json, { required: needed.has(name), shared });
      checkAlone(field.schema, `${whose}: \`${name}\``);
      return field;
    }),
  );
}

/** A field's value is read by the field's own JSON Schema, even if the signature uses another schema library. */
function checkAlone(schema: JsonObject, whose: string): void {
  try {
    compileSchema(jsonSchema(schema));
  } catch (cause) {
    const reason = describeThrown(cause);
    throw invalid(`${whose} has a JSON Schema that cannot be used on its own: ${reason}`, cause);
  }
}

interface FieldPlace {
  readonly required: boolean;
  /** The definitions that field schemas may refer to. */
  readonly shared: JsonObject;
}

function toField(name: string, property: Json, { required, shared }: FieldPlace): SignatureField {
  const { description, ...schema }: JsonObject = isPlainObject(property) ? property : {};
  const refers = JSON.stringify(schema).includes('"$ref"');
  return deepFreeze({
    name,
    description: typeof description === 'string' ? description.trim() : '',
    schema: refers ? { ...schema, ...shared } : schema,
    required,
  });
}

function describeTask(inputs: readonly SignatureField[], outputs: readonly SignatureField[]): string {
  const listed = (fields: readonly SignatureField[]): string => fields.map(({ name }) => `\`${name}\``).join(', ');
  return inputs.length === 0 ? `Produce ${listed(outputs)}.` : `Given ${listed(inputs)}, produce ${listed(outputs)}.`;
}

function invalid(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError('modules.invalid', message, { data: { reason: 'signature' }, cause });
}

/** The result of validating outputs with a signature's schema. */
export type OutputCheck<Output> =
  | { readonly type: 'valid'; readonly output: Output }
  | { readonly type: 'wrong'; readonly issues: readonly SchemaIssue[] }
  /** The schema threw. The message is for the host only; asking the model again would not help. */
  | { readonly type: 'failed'; readonly error: ModuleError };

/** Never throws, although a host's schema runs foreign code. Freezes plain results. */
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
      'OutputUnparsable',
      `Checking the outputs of \`${name}\` failed because their schema threw: ${reason}`,
      { data: { missing: [], problems: [], recoverable: false }, cause },
    );
    return { type: 'failed', error };
  }
}

/** Skips objects that a schema created, such as dates or bytes. */
function freezePlain(value: unknown): void {
  if (!(Array.isArray(value) || isPlainObject(value)) || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freezePlain(inner);
}
