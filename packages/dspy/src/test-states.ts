import { readFileSync } from 'node:fs';
import { defineTool, type JsonObject, type Schema, type Tool } from '@holdfast/core';
import { defineSignature, type Signature } from '@holdfast/modules';
import { jsonSchema } from '@holdfast/schema/json';
import { inferDspyPrefix } from './fields.ts';
import { type DspyImport, type ImportDspyOptions, importDspy } from './import.ts';

/** The text of a state file in `fixtures`. */
export function readFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8');
}

/** A signature written as in DSPy, `question, context -> answer`: all of its fields are text. */
export function signatureOf(text: string, name = 'test.signature'): Signature {
  const [inputs = '', outputs = ''] = text.split('->');
  const toSchema = (names: string): Schema => {
    const listed = names.split(',').flatMap((field) => (field.trim() === '' ? [] : [field.trim()]));
    const properties = Object.fromEntries(listed.map((field) => [field, { type: 'string' }]));
    return jsonSchema({ type: 'object', properties, required: listed });
  };
  return defineSignature({ name, inputSchema: toSchema(inputs), outputSchema: toSchema(outputs) });
}

const text = { type: 'string' };
/** What the programs in `fixtures` are about. */
export const answer: Signature = signatureOf('question -> answer', 'museum.answer');
export const guide: Signature = signatureOf('question -> room', 'museum.guide');
export const rooms: Signature = defineSignature({
  name: 'museum.rooms',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { visitor: text, rooms: { type: 'array', items: text } },
    required: ['visitor', 'rooms'],
  }),
  outputSchema: jsonSchema({
    type: 'object',
    properties: { room: text, certainty: { type: 'number', minimum: 0, maximum: 1 } },
    required: ['room', 'certainty'],
  }),
});

export function toolNamed(name: string): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    inputSchema: jsonSchema({ type: 'object', properties: {}, additionalProperties: true }),
    execute: () => name,
  });
}

export const tools: readonly Tool[] = [toolNamed('look_up'), toolNamed('list_rooms')];

interface SavedProgram {
  readonly signatures: Readonly<Record<string, Signature>>;
  /** The fields of each predictor. */
  readonly predictors: Readonly<Record<string, readonly string[]>>;
}

const step = ['question', 'trajectory', 'next_thought', 'next_tool_name', 'next_tool_args'];
const extraction = ['question', 'trajectory', 'reasoning', 'room'];

/** By the names of their files. */
export const savedPrograms: ReadonlyMap<string, SavedProgram> = new Map([
  ['predict', { signatures: { '': answer }, predictors: { '': ['question', 'answer'] } }],
  [
    'chain-of-thought',
    { signatures: { '': rooms }, predictors: { predict: ['visitor', 'rooms', 'reasoning', 'room', 'certainty'] } },
  ],
  ['react', { signatures: { '': guide }, predictors: { react: step, 'extract.predict': extraction } }],
  [
    'program',
    {
      signatures: {
        'hop[0]': signatureOf('question -> query', 'museum.first'),
        'hop[1]': signatureOf('question, found -> query', 'museum.second'),
        "d['k']": signatureOf('question -> department', 'museum.sort'),
        deep: guide,
      },
      predictors: {
        'hop[0]': ['question', 'query'],
        'hop[1].predict': ['question', 'found', 'reasoning', 'query'],
        "d['k']": ['question', 'department'],
        'deep.react': step,
        'deep.extract.predict': extraction,
      },
    },
  ],
]);

export interface StateParts {
  /** By name, as DSPy would write them; or as they are. */
  readonly fields?: readonly (string | { readonly prefix: string; readonly description: string })[];
  readonly instructions?: string;
  readonly demos?: readonly unknown[];
}

/** A state of one predictor as DSPy 3 saves it. */
export function stateOf({
  fields = ['question', 'answer'],
  instructions = 'Answer the question.',
  demos = [],
}: StateParts = {}): JsonObject {
  const written = fields.map((field) =>
    typeof field === 'string' ? { prefix: inferDspyPrefix(field), description: `\${${field}}` } : field,
  );
  // What a test puts into demos is made JSON by the file.
  return { traces: [], train: [], demos: demos as never, signature: { instructions, fields: written }, lm: null };
}

/** The text of a file with these states by path, or with one at the top. */
export function fileOf(state: Readonly<Record<string, unknown>>, version = '3.0.4'): string {
  return JSON.stringify({
    ...state,
    metadata: { dependency_versions: { python: '3.12', dspy: version, cloudpickle: '3.1' } },
  });
}

export async function importOk(
  text: string,
  options: ImportDspyOptions,
): Promise<Extract<DspyImport, { readonly type: 'imported' }>> {
  const imported = await importDspy(text, options);
  if (imported.type === 'refused') throw new Error(`Refused: ${JSON.stringify(imported.problems, undefined, 2)}`);
  return imported;
}

export async function problemsOf(
  text: string | Uint8Array,
  options: ImportDspyOptions,
): Promise<Extract<DspyImport, { readonly type: 'refused' }>['problems']> {
  const imported = await importDspy(text, options);
  return imported.type === 'refused' ? imported.problems : [];
}

/** A predictor of DSPy with its fields, and what it has after a state was loaded into it. */
export interface LoadedPredictor {
  readonly instructions: unknown;
  readonly fields: readonly { readonly name: string; readonly prefix: unknown; readonly description: unknown }[];
  readonly demos: readonly JsonObject[];
  readonly keys: readonly string[];
}

/**
 * Does what DSPy 3 does with a state file, for a program whose predictors have the given fields; the path `''` is a `Predict` by itself.
 * Throws where DSPy raises.
 *
 * Source: DSPy `dspy/primitives/base_module.py` (`load`, `load_state`), `dspy/predict/predict.py` and `dspy/signatures/signature.py`
 * (`load_state`).
 */
export function loadLikeDspy(
  text: string,
  program: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, LoadedPredictor> {
  const state = JSON.parse(text) as Record<string, never>;
  const versions: Record<string, string> = need(need(state, 'metadata'), 'dependency_versions');
  for (const name of Object.keys(versions)) need({ python: '', dspy: '', cloudpickle: '' }, name);
  return new Map(
    Object.entries(program).map(([path, names]) => {
      const predictor = path === '' ? state : need(state, path);
      const signature = need(predictor, 'signature');
      need(predictor, 'lm');
      if (Object.hasOwn(predictor, 'extended_signature')) throw new Error('NotImplementedError: extended_signature');
      const fields = need(signature, 'fields') as readonly Record<string, never>[];
      if (fields.length !== names.length) throw new Error(`${fields.length} fields for ${names.length}`);
      const loaded: LoadedPredictor = {
        instructions: need(signature, 'instructions'),
        fields: names.map((name, index) => ({
          name,
          prefix: need(fields[index] ?? {}, 'prefix'),
          description: need(fields[index] ?? {}, 'description'),
        })),
        demos: need(predictor, 'demos'),
        keys: Object.keys(predictor).filter((key) => key !== 'metadata'),
      };
      return [path, loaded] as const;
    }),
  );
}

/** A key that Python would raise a KeyError for. */
function need<Value>(object: Readonly<Record<string, Value>>, key: string): Value {
  if (!Object.hasOwn(object, key)) throw new Error(`KeyError: ${key}`);
  return object[key] as Value;
}
