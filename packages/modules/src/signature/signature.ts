import {
  deepFreeze,
  describeThrown,
  HoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  type JsonSchemaDefinition,
  type Schema,
  type StandardSchema,
} from '@holdfast/core';
import { type CompiledSchema, compileSchema, type SchemaIssue } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { type ModuleError, moduleError } from './problems.ts';

/** One field of a signature, made of a property of its schema. */
export interface SignatureField {
  /** Letters, digits and `_`, at most 64. */
  readonly name: string;
  /** `description` of the property, or `''`. */
  readonly description: string;
  /** JSON Schema of a value, without the description; `$defs` of the whole schema come along where it refers to them. */
  readonly schema: JsonObject;
  /** It has to be there. */
  readonly required: boolean;
}

/** A schema whose `Input` is what goes into it, so that a field with a default may be left out. */
export type InputSchema<Input = unknown> = StandardSchema<Input, unknown> | JsonSchemaDefinition<Input>;

/** What a predictor is given and what it has to answer. Frozen. */
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
  /** By which module files name it. Letters, digits, `.`, `_` and `-`, at most 128. */
  readonly name: string;
  /** What is to be done. Default: that the outputs are to be made of the inputs, by name. */
  readonly instruction?: string;
  /** Describe objects with declared properties; what the schema's properties say goes to the model. */
  readonly inputSchema: InputSchema<Input>;
  readonly outputSchema: Schema<Output>;
}

const signatureName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** Not the key that JSON of a model may not have. */
const fieldName = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** Stands at the end of what a model answers, in whichever case. */
const endOfAnswer = 'completed';

/**
 * Declares what a predictor takes and gives.
 *
 * @throws HoldfastError `modules.signature_invalid` (name, schemas that describe no object with properties, names of fields that cannot
 * be written as headers, a name twice, a field whose JSON Schema cannot be used alone), and what compiling a schema throws.
 */
export function defineSignature<Input, Output>(
  definition: SignatureDefinition<Input, Output>,
): Signature<Input, Output> {
  const { name, inputSchema, outputSchema } = definition;
  if (!signatureName.test(name)) {
    throw invalid(`\`${name.slice(0, 150)}\` is no name of a signature: use letters, digits, \`.\`, \`_\` and \`-\`.`);
  }
  const inputs = readFields(compileSchema(inputSchema), `The input of \`${name}\``);
  const outputs = readFields(compileSchema(outputSchema), `The output of \`${name}\``);
  if (outputs.length === 0) throw invalid(`The output of \`${name}\` has no fields; declare at least one.`);
  for (const { name: output } of outputs) {
    if (output.toLowerCase() === endOfAnswer)
      throw invalid(`\`${name}\`: \`${output}\` cannot be the name of an output.`);
    if (inputs.some((input) => input.name === output))
      throw invalid(`\`${name}\`: \`${output}\` is an input and an output; rename one of them.`);
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
    throw invalid(`${whose} must be described by a schema of an object with properties.`);
  }
  const needed = new Set(Array.isArray(required) ? required : []);
  const shared: JsonObject = {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  return Object.freeze(
    Object.entries(properties).map(([name, property]) => {
      if (!fieldName.test(name))
        throw invalid(`${whose}: \`${name.slice(0, 100)}\` is no name of a field; use letters, digits and \`_\`.`);
      const field = toField(name, property as Json, { required: needed.has(name), shared });
      checkAlone(field.schema, `${whose}: \`${name}\``);
      return field;
    }),
  );
}

/** What a model writes for a field is read by the field's own schema, also where the signature's is of a library. */
function checkAlone(schema: JsonObject, whose: string): void {
  try {
    compileSchema(jsonSchema(schema));
  } catch (cause) {
    const reason = describeThrown(cause);
    throw invalid(`${whose} cannot be read by the JSON Schema of this field alone: ${reason}`, cause);
  }
}

interface FieldPlace {
  readonly required: boolean;
  /** To which schemas of fields may refer. */
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
  return new HoldfastError('modules.signature_invalid', message, { cause });
}

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
