import type { Json, JsonObject, Message } from '@holdfast/core';
import { deepFreeze, isPlainObject, toCanonicalJson } from '@holdfast/core/internal';
import type { Demo, Program } from '../signature/program.ts';
import type { SignatureField } from '../signature/signature.ts';

/** Fields that are not in the program's signature. */
export interface ExtraFields {
  /** Shown after the program's own. */
  readonly inputs: readonly SignatureField[];
  /** Requested before the program's own, but after its reasoning. */
  readonly outputs: readonly SignatureField[];
  /** True if the answer requests something first, so that the other outputs may be absent. Gets all outputs that could be read. */
  readonly isPartial: (outputs: JsonObject) => boolean;
  /** The values of the extra inputs; absent ones are left out. */
  readonly values: JsonObject;
}

/** All fields of one prompt, in order. */
export interface PromptFields {
  readonly inputs: readonly SignatureField[];
  readonly outputs: readonly SignatureField[];
}

export function promptFields({ signature, inputs, outputs }: Program, extra?: ExtraFields): PromptFields {
  if (extra === undefined) return { inputs, outputs };
  const isOwn = ({ name }: SignatureField): boolean => signature.outputs.some((output) => output.name === name);
  return {
    inputs: [...inputs, ...extra.inputs],
    outputs: [...outputs.filter((field) => !isOwn(field)), ...extra.outputs, ...outputs.filter(isOwn)],
  };
}

/**
 * The messages for a model. The same program and input give the same bytes: values other than strings are compact JSON with sorted keys. A
 * field header within a value is broken up, so that no value can pass for another field.
 *
 * Source: the order and the headers are those of `ChatAdapter` of stanfordnlp/dspy, `dspy/adapters/chat_adapter.py`, for which saved
 * programs were tuned: fields, structure, instruction, incomplete examples, complete ones, input.
 */
export function renderProgram(program: Program, input: JsonObject, extra?: ExtraFields): readonly Message[] {
  const { opening, fields, write } = frameOf(program, extra);
  const values = extra === undefined ? input : { ...input, ...extra.values };
  return [...opening, { role: 'user', text: join([...write(fields.inputs, values), renderRequest(fields)]) }];
}

/** The parts that are the same for every input. */
interface Frame {
  /** Without the values, which belong to one input. */
  readonly extra: Omit<ExtraFields, 'values'> | undefined;
  readonly fields: PromptFields;
  readonly write: WriteFields;
  /** All messages except the last. */
  readonly opening: readonly Message[];
}

/** The latest frame of each program: a loop repeatedly asks for the same fields with other values. */
const frames = new WeakMap<Program, Frame>();

function frameOf(program: Program, extra: ExtraFields | undefined): Frame {
  const known = frames.get(program);
  if (known !== undefined && isSameFrame(known.extra, extra)) return known;
  const fields = promptFields(program, extra);
  const write = createWriter(fields);
  const demos = program.demos
    .map((demo) => ({ demo, rank: rankDemo(demo, fields, extra) }))
    .filter(({ rank }) => rank !== hidden)
    // The sort is stable, so demos of equal rank keep their order.
    .sort((left, right) => left.rank - right.rank)
    .flatMap(({ demo, rank }) => renderDemo(demo, { fields, write, isComplete: rank === complete }));
  const opening: readonly Message[] = [{ role: 'system', text: renderTask(program, fields) }, ...demos];
  const kept = extra && { inputs: extra.inputs, outputs: extra.outputs, isPartial: extra.isPartial };
  const frame = { extra: kept, fields, write, opening: deepFreeze(opening) };
  frames.set(program, frame);
  return frame;
}

function isSameFrame(known: Frame['extra'], extra: ExtraFields | undefined): boolean {
  return known?.inputs === extra?.inputs && known?.outputs === extra?.outputs && known?.isPartial === extra?.isPartial;
}

/** The request for an answer in the expected structure. */
export function renderRequest({ outputs }: PromptFields): string {
  const listed = outputs.map(({ name, required }) => `\`${toHeader(name)}\`${required ? '' : ' (optional)'}`);
  return `Answer with the field ${listed.join(', then ')}, and end with \`${endMarker}\`.`;
}

function renderTask({ instruction }: Program, fields: PromptFields): string {
  const listed = (title: string, some: readonly SignatureField[]): readonly string[] =>
    some.length === 0 ? [] : [[title, ...some.map(renderField)].join('\n')];
  const structure = [...fields.inputs, ...fields.outputs].map(({ name }) => `${toHeader(name)}\n{${name}}`);
  return join([
    ...listed('Your input fields are:', fields.inputs),
    ...listed('Your output fields are:', fields.outputs),
    'All messages have this structure. Each value in braces is replaced: strings are written as is, all other values as JSON.',
    ...structure,
    endMarker,
    `Your task:\n${instruction}`,
  ]);
}

/** One numbered line in a list of fields. */
export function renderField({ name, description, schema, required }: SignatureField, index: number): string {
  const type = `${renderType(schema)}${required ? '' : ', optional'}`;
  // Indented, so that a description of several lines stays under its own field.
  const told = description === '' ? '' : `: ${description.replaceAll(/\r?\n/g, '\n   ')}`;
  return `${index + 1}. \`${name}\` (${type})${told}`;
}

export type WriteFields = (fields: readonly SignatureField[], values: JsonObject, absent?: string) => readonly string[];

interface DemoRendering {
  readonly fields: PromptFields;
  readonly write: WriteFields;
  readonly isComplete: boolean;
}

function renderDemo({ inputs, outputs }: Demo, { fields, write, isComplete }: DemoRendering): readonly Message[] {
  const absent = isComplete ? undefined : '(not given in this example)';
  const note = isComplete ? [] : ['This is an example with some fields missing.'];
  const asked = [...note, ...write(fields.inputs, inputs, absent)];
  return [
    // Providers reject empty messages.
    { role: 'user', text: asked.length === 0 ? renderRequest(fields) : join(asked) },
    { role: 'assistant', text: join([...write(fields.outputs, outputs, absent), endMarker]), calls: [] },
  ];
}

const hidden = -1;
const complete = 2;

/** Ranks demos: without some outputs, without some inputs, complete. A demo without any input or output is hidden. */
function rankDemo({ inputs, outputs }: Demo, fields: PromptFields, extra: ExtraFields | undefined): number {
  const hasSome = (some: readonly SignatureField[], values: JsonObject): boolean =>
    some.length === 0 || some.some(({ name }) => Object.hasOwn(values, name));
  const hasAll = (some: readonly SignatureField[], values: JsonObject): boolean =>
    some.every(({ name, required }) => !required || Object.hasOwn(values, name));
  if (!hasSome(fields.inputs, inputs) || !hasSome(fields.outputs, outputs)) return hidden;
  if (!hasAll(fields.outputs, outputs) && extra?.isPartial(outputs) !== true) return 0;
  return hasAll(fields.inputs, inputs) ? complete : 1;
}

/** Writes fields with their headers. An absent field is left out, or written as `absent` if required. */
export function createWriter({ inputs, outputs }: PromptFields): WriteFields {
  // As tolerant as the parser: any case, spaces for `_`. Names contain no regular expression syntax.
  const names = [...inputs, ...outputs].map(({ name }) => name.replaceAll('_', '[_ ]'));
  const header = new RegExp(`\\[\\[(?=\\s*#+\\s*(?:${[...names, 'completed'].join('|')})(?!\\w))`, 'giu');
  // The escape keeps the JSON equivalent.
  const show = (value: Json): string =>
    (typeof value === 'string' ? value : toCanonicalJson(value)).replaceAll(header, '[\\u005b');
  return (fields, values, absent) =>
    fields.flatMap(({ name, required }) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value !== undefined) return [`${toHeader(name)}\n${show(value)}`];
      return required && absent !== undefined ? [`${toHeader(name)}\n${absent}`] : [];
    });
}

function toHeader(name: string): string {
  return `[[ ## ${name} ## ]]`;
}

const endMarker = toHeader('completed');

function join(parts: readonly string[]): string {
  return parts.join('\n\n');
}

/** Keywords that do not describe a value, or are shown elsewhere. */
const silent: ReadonlySet<string> = new Set(['$schema', 'title', 'description', 'default', 'examples']);
const plainTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

/** Describes the type of a value for a model: `string`, `one of: a; b`, `integer or null`, or the JSON Schema. */
export function renderType(schema: JsonObject): string {
  const said = Object.fromEntries(Object.entries(schema).filter(([key, value]) => !isSilent(key, value)));
  const { type, ...rest } = said;
  const allowed = 'const' in said ? [said['const']] : said['enum'];
  if (Array.isArray(allowed)) return renderChoice(allowed as readonly Json[]);
  if (Object.keys(said).length === 0) return 'any JSON value';
  const alternatives = Object.keys(said).length === 1 ? readAlternatives(said) : undefined;
  if (alternatives !== undefined) return alternatives.map(renderType).join(' or ');
  const limits = Object.keys(rest).length === 0 ? '' : ` with the JSON Schema ${toCanonicalJson(rest)}`;
  if (typeof type === 'string' && plainTypes.has(type)) return `${type}${limits}`;
  const { items, ...others } = rest;
  if (type === 'array' && Object.keys(others).length === 0) {
    if (items === undefined) return 'JSON array';
    if (isPlainObject(items) && isPlain(items)) return `JSON array of ${renderType(items)}`;
  }
  return `JSON with the JSON Schema ${toCanonicalJson(said)}`;
}

function renderChoice(values: readonly Json[]): string {
  const isReadable = values.every(
    (value) => typeof value === 'string' && /^[^\s;"`](?:[^\n;"`]*[^\s;"`])?$/.test(value),
  );
  const shown = values.map((value) => (isReadable ? String(value) : toCanonicalJson(value)));
  return shown.length === 1 ? `always ${shown[0]}` : `one of: ${shown.join('; ')}`;
}

/** The alternatives of an `anyOf` or a list of types, such as a nullable type of Valibot. */
function readAlternatives({ anyOf, type }: JsonObject): readonly JsonObject[] | undefined {
  if (Array.isArray(type)) return type.map((one) => ({ type: one as Json }));
  if (!Array.isArray(anyOf)) return undefined;
  const schemas = (anyOf as readonly Json[]).filter((one): one is JsonObject => isPlainObject(one));
  return schemas.length === anyOf.length && schemas.every(isPlain) ? schemas : undefined;
}

/** True if a few words describe the schema completely. */
function isPlain(schema: JsonObject): boolean {
  if ('const' in schema || Array.isArray(schema['enum'])) return true;
  return Object.entries(schema).every(
    ([key, value]) => isSilent(key, value) || (key === 'type' && plainTypes.has(value)),
  );
}

/** Ignores the bounds that Zod adds to integers, those of exact numbers. */
function isSilent(key: string, value: unknown): boolean {
  if (key === 'minimum') return value === Number.MIN_SAFE_INTEGER;
  return key === 'maximum' ? value === Number.MAX_SAFE_INTEGER : silent.has(key);
}
