import { HoldfastError, type Json, type Schema } from '@holdfast/core';
import { describeThrown, isPlainObject, parseJson } from '@holdfast/core/internal';
import type { OutputFormat, ParsedOutput, RenderedPrompt } from '@holdfast/core/types';
import { type CompiledSchema, compileSchema, type SchemaIssue } from '@holdfast/schema';
import { extractJson } from '../json/extract-json.ts';
import { describesObject, toNativeList } from './schema.ts';

export interface OutputFormatOptions {
  /** How many times a run tells the model what is wrong and asks again. Integer from 0 on, default 1. */
  readonly maxCorrections?: number;
}

/**
 * Creates the parser of a run's final message. `schema` describes an object, or a list of objects, which may come as a list or as an
 * object with nothing but `items`. Undeclared keys are rejected; the limits of tool arguments apply.
 *
 * @throws HoldfastError `prompt.invalid`, `options.invalid`, and what `compileSchema` throws.
 */
export function toOutputFormat<Output>(
  schema: Schema<Output>,
  { maxCorrections = 1 }: OutputFormatOptions = {},
): OutputFormat<Output> {
  if (!Number.isInteger(maxCorrections) || maxCorrections < 0) {
    throw new HoldfastError(
      'options.invalid',
      `\`maxCorrections\` must be an integer from 0 on, got ${maxCorrections}.`,
      { data: { maxCorrections } },
    );
  }
  const compiled = compileSchema(schema);
  const { jsonSchema } = compiled;
  const isList = jsonSchema['type'] === 'array';
  if (isList ? !describesObject(jsonSchema['items'], jsonSchema) : !describesObject(jsonSchema, jsonSchema)) {
    throw new HoldfastError(
      'prompt.invalid',
      'The `output` of a prompt must be the schema of an object, or of an array whose items are objects.',
      { data: { reason: 'output.schema' } },
    );
  }
  const read = isList ? readList : readObject;
  return Object.freeze({
    jsonSchema: isList ? toNativeList(jsonSchema) : jsonSchema,
    maxCorrections,
    parse(text: string): ParsedOutput<Output> {
      try {
        return parseOutputText(text, (value) => read(value, compiled));
      } catch (thrown) {
        // A schema whose own check throws.
        return refused(`it could not be checked: ${describeThrown(thrown).slice(0, maxIssueLength)}`);
      }
    },
  });
}

/**
 * Reads the output in `text`, for hosts that ask a model themselves.
 *
 * @throws HoldfastError `prompt.invalid` if the prompt declares none, `output.invalid` if `text` does not match it.
 */
export function parseOutput<Output>({ output }: Pick<RenderedPrompt<Output>, 'output'>, text: string): Output {
  if (output === undefined) {
    throw new HoldfastError(
      'prompt.invalid',
      'The prompt declares no `output`, so there is nothing to parse: give `createPrompt` a schema as `output`.',
      { data: { reason: 'output.undeclared' } },
    );
  }
  const parsed = output.parse(text);
  if (parsed.ok) return parsed.value;
  throw new HoldfastError('output.invalid', parsed.message);
}

/** The description of the format for the model: the last block of the prompt. */
export function renderOutputFormat({ jsonSchema }: OutputFormat): string {
  return [
    '## Response format (response-format)',
    'When the work is done, answer with one JSON object that fits this JSON Schema, and with nothing else: no text before or after it, no keys that the schema does not name.',
    `\`\`\`json\n${JSON.stringify(jsonSchema)}\n\`\`\``,
  ].join('\n\n');
}

type Read<Output> = { readonly ok: true; readonly value: Output } | { readonly ok: false; readonly problem: string };

function parseOutputText<Output>(text: string, read: (value: Json) => Read<Output>): ParsedOutput<Output> {
  const extracted = extractJson(text, isWholeJson);
  if (!extracted.ok) return refused(extracted.problem);
  const parsed = parseJson(extracted.json);
  if (!parsed.ok) return refused(parsed.problem);
  const output = read(parsed.value);
  return output.ok ? output : refused(output.problem);
}

/** True if `text` is JSON, even of a rejected kind or size. */
function isWholeJson(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok || parsed.reason !== 'syntax';
}

function readObject<Output>(value: Json, compiled: CompiledSchema<Output>): Read<Output> {
  if (!isPlainObject(value)) return { ok: false, problem: `it must be one JSON object, got ${describeKind(value)}` };
  return validate(value, compiled, '');
}

function readList<Output>(value: Json, compiled: CompiledSchema<Output>): Read<Output> {
  if (Array.isArray(value)) return validate(value, compiled, '');
  if (!isPlainObject(value)) return { ok: false, problem: `it must be ${listForm}, got ${describeKind(value)}` };
  const keys = Object.keys(value);
  const items = Object.hasOwn(value, 'items') ? value['items'] : undefined;
  if (keys.length === 1 && Array.isArray(items)) return validate(items, compiled, 'items');
  return { ok: false, problem: `it must be ${listForm}, got an object with ${describeKeys(keys)}` };
}

function describeKeys(keys: readonly string[]): string {
  const [first] = keys;
  if (first === undefined) return 'no keys';
  if (first === 'items' && keys.length === 1) return '`items` that is not a list';
  const named = keys.slice(0, 5).map((key) => `\`${key.slice(0, 50)}\``);
  return `the keys ${named.join(', ')}${keys.length > 5 ? ', ...' : ''}`;
}

const listForm = 'a JSON object with the one key `items`, a list of objects';

function validate<Output>(value: unknown, compiled: CompiledSchema<Output>, path: string): Read<Output> {
  const validation = compiled.validate(value);
  return validation.ok ? validation : { ok: false, problem: describe(validation.issues, path) };
}

const maxIssues = 20;
const maxIssueLength = 300;

/** As `describeIssues`, with `path` before theirs, and bounded: paths hold keys that the model made up. */
function describe(issues: readonly SchemaIssue[], path: string): string {
  const lines = issues.slice(0, maxIssues).map((issue) => {
    const place =
      issue.path === '' || issue.path.startsWith('[') || path === '' ? `${path}${issue.path}` : `${path}.${issue.path}`;
    const text = place === '' ? issue.message : `\`${place}\`: ${issue.message}`;
    return `\n- ${text.slice(0, maxIssueLength)}`;
  });
  const rest = issues.length > maxIssues ? '\n- and others' : '';
  return `it does not fit the schema:${lines.join('')}${rest}\n`;
}

function refused(problem: string): { readonly ok: false; readonly message: string } {
  const end = problem.endsWith('\n') ? '\n' : '. ';
  return {
    ok: false,
    message: `Your message does not match the required output: ${problem}${end}Answer again with only the corrected JSON, as described in "Response format".`,
  };
}

function describeKind(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
