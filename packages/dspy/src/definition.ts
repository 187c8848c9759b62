import type { Json, JsonObject, Tool } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ModuleDefinition, Signature, ToolCatalog } from '@holdfast/modules';
import type { Demo, ModuleField, ModuleSignature, PredictorType, SignatureField } from '@holdfast/modules/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import {
  compareDspyFields,
  type DspyField,
  type DspyPredictorKind,
  labelOf,
  listDspyFields,
  placeholder,
  squeeze,
} from './fields.ts';
import { type DspyFindings, joinPath, quote, quoteAll } from './findings.ts';
import { type DspyPair, namesOf, stripEnd } from './modules.ts';
import type { DspyPredictorState } from './state.ts';

export interface DefinitionParts {
  readonly id: string;
  /** The digest of the file. */
  readonly digest: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly tools: readonly Tool[] | ToolCatalog;
  readonly findings: DspyFindings;
}

/** A DSPy module and the type of module that it becomes. */
export interface PlacedModule {
  readonly kind: PredictorType;
  /** The path of the module in the program. */
  readonly path: string;
  readonly signature: Signature;
  readonly step: DspyPredictorState;
  /** For a ReAct. */
  readonly extract: DspyPredictorState | undefined;
}

export function placeDspyModule({ module, signature }: DspyPair): PlacedModule {
  const { step, extract } = module;
  const kind = extract === undefined ? chooseKind(step, signature) : 'react';
  const path = kind === 'chain_of_thought' ? (namesOf(step.path).at(-1) ?? step.path) : module.path;
  return { kind, path, signature, step, extract };
}

export function toDefinition(placed: PlacedModule, parts: DefinitionParts): ModuleDefinition {
  const { kind, path, signature, step, extract } = placed;
  const { id, digest, versions, findings } = parts;
  const tuned = tune(step, kind, { signature, findings });
  const answered = extract === undefined ? undefined : tune(extract, 'extract', { signature, findings });
  if (kind === 'react') checkTools(step, tuned.tuning.demos, parts);
  return {
    module_id: id,
    predictor_type: kind,
    signature_name: signature.name,
    signature: describeSignature(signature),
    ...tuned.tuning,
    tool_enabled: kind === 'react',
    ...(answered === undefined ? {} : { tool_protocol: 'text', lists_tools: true, extract: answered.tuning }),
    metadata: {
      version: '1.0.0',
      dspy: {
        path,
        digest,
        dependency_versions: { ...versions },
        ...toPrefixes('prefixes', tuned.prefixes),
        ...toPrefixes('extract_prefixes', answered?.prefixes),
      },
    },
  };
}

/**
 * Infers the type of a module, which states do not contain. A chain of thought has one predictor, `predict`, with an additional field; in
 * the format of dspy-rs, which lists no fields, it is named `predictor`, or its demos contain reasoning.
 */
function chooseKind(
  { path, fields, demos }: DspyPredictorState,
  { inputs, outputs }: Signature,
): 'predict' | 'chain_of_thought' {
  const reasons = outputs.some(({ name }) => name === 'reasoning');
  if (fields === undefined) {
    const thinks = stripEnd(path, 'predictor') !== undefined || demos.some(hasReasoning);
    return thinks && !reasons ? 'chain_of_thought' : 'predict';
  }
  const { prefix = '', description = '' } = fields[inputs.length] ?? {};
  const isThought = squeeze(labelOf(prefix)) === 'reasoning' || description.trim() === placeholder('reasoning');
  const more = fields.length === inputs.length + outputs.length + 1 && isThought;
  return more && !reasons && stripEnd(path, 'predict') !== undefined ? 'chain_of_thought' : 'predict';
}

function hasReasoning(demo: Json): boolean {
  return typeof demo === 'object' && demo !== null && Object.hasOwn(demo, 'reasoning');
}

interface Tuned {
  readonly tuning: Pick<ModuleDefinition, 'instruction' | 'descriptions' | 'demos'>;
  readonly prefixes: Readonly<Record<string, string>>;
}

function tune(
  state: DspyPredictorState,
  kind: DspyPredictorKind,
  { signature, findings }: { readonly signature: Signature; readonly findings: DspyFindings },
): Tuned {
  const { path, instruction, fields, demos } = state;
  const expected = listDspyFields(kind, signature);
  const { descriptions, prefixes } =
    fields === undefined
      ? { descriptions: {}, prefixes: {} }
      : compareDspyFields(fields, expected, { path: joinPath(path, 'signature', 'fields'), findings });
  const tuning = {
    ...(instruction === undefined ? {} : { instruction }),
    ...(Object.keys(descriptions).length === 0 ? {} : { descriptions }),
    demos: splitDspyDemos(demos, expected, { path: joinPath(path, 'demos'), findings }),
  };
  return { tuning, prefixes };
}

function toPrefixes(key: string, prefixes: Readonly<Record<string, string>> = {}): JsonObject {
  return Object.keys(prefixes).length === 0 ? {} : { [key]: { ...prefixes } };
}

/** A model can call only registered tools, and calls only tools that it knows of. */
function checkTools(
  { path, instruction = '' }: DspyPredictorState,
  demos: readonly Demo[],
  { tools, findings }: DefinitionParts,
): void {
  const registered = new Set(('tools' in tools ? tools.tools : tools).map(({ name }) => name));
  const known = quoteAll([...registered]);
  const isUnknown = (name: string): boolean => name !== 'finish' && !registered.has(name);
  const listed = readListedTools(instruction);
  const place = joinPath(path, 'signature', 'instructions');
  for (const name of new Set(listed ?? [])) {
    if (!isUnknown(name)) continue;
    const message = `The instruction lists the tool ${quote(name)}, which is not registered. Registered tools: ${known}.`;
    findings.refuse('tool_unknown', place, message);
  }
  for (const [index, { outputs }] of demos.entries()) {
    const name = outputs['next_tool_name'];
    if (typeof name !== 'string' || !isUnknown(name)) continue;
    const message = `The demo calls the tool ${quote(name)}, which is not registered. Registered tools: ${known}.`;
    findings.refuse('tool_unknown', `${joinPath(path, 'demos')}[${index}].next_tool_name`, message);
  }
  const untold = listed === undefined ? [...registered] : [...registered].filter((name) => !listed.includes(name));
  if (untold.length > 0 || listed === undefined) {
    const message =
      listed === undefined
        ? 'The instruction has no list of tools in the format of DSPy, so its tools could not be checked.'
        : `The instruction does not list ${quoteAll(untold)}, so the model will not know of it.`;
    findings.warn('tools_unlisted', place, message);
  }
}

function describeSignature({ inputs, outputs }: Signature): ModuleSignature {
  return { inputs: inputs.map(describeField), outputs: outputs.map(describeField) };
}

function describeField({ name, schema }: SignatureField): ModuleField {
  const { type } = schema;
  return typeof type === 'string' ? { name, field_type: type } : { name };
}

/**
 * Splits flat demos into inputs and outputs. Drops unknown fields, such as DSPy's own notes (`augmented`, `dspy_uuid`, `dspy_split`), and a
 * `null` that the field does not allow, which DSPy treats as a missing field.
 *
 * Source: DSPy `dspy/predict/predict.py` (`dump_state`) and `dspy/adapters/base.py` (`format_demos`: a demo is shown if it has an input and
 * an output of the predictor).
 */
function splitDspyDemos(
  demos: readonly Json[],
  fields: readonly DspyField[],
  { path, findings }: { readonly path: string; readonly findings: DspyFindings },
): readonly Demo[] {
  const checks = fields.map((field) => ({ ...field, check: compileSchema(jsonSchema(field.schema)) }));
  const names = new Set(fields.map(({ name }) => name));
  return demos.flatMap((demo, index) => {
    const place = `${path}[${index}]`;
    if (!isPlainObject(demo)) {
      findings.refuse('demo_invalid', place, 'A demo must be an object of fields.');
      return [];
    }
    for (const key of Object.keys(demo)) if (!names.has(key)) findings.ignore(`${path}[].${key.slice(0, 100)}`);
    const values = { inputs: new Map<string, Json>(), outputs: new Map<string, Json>() };
    for (const { name, side, check } of checks) {
      if (!Object.hasOwn(demo, name)) continue;
      const value = demo[name] as Json;
      const checked = check.validate(value);
      if (checked.ok) values[side].set(name, value);
      else if (value === null) findings.ignore(`${path}[].${name}`);
      else {
        const problem = describeIssues(checked.issues).slice(0, 500);
        const message = `The demo has ${quote(JSON.stringify(value))}, which the signature does not allow: ${problem}`;
        findings.refuse('demo_invalid', `${place}.${name}`, message);
      }
    }
    if (values.inputs.size === 0 || values.outputs.size === 0) {
      const missing = values.outputs.size === 0 ? 'output' : 'input';
      const message = `The demo has no ${missing} of this predictor, so the model will not see it.`;
      findings.warn('demo_not_rendered', place, message);
    }
    return [{ inputs: Object.fromEntries(values.inputs), outputs: Object.fromEntries(values.outputs) }];
  });
}

/**
 * The tools listed in a ReAct instruction, in order; `undefined` if there is no list in the format of DSPy, which an optimizer may have
 * rewritten.
 *
 * Source: DSPy `dspy/predict/react.py` (numbered lines, the last of them `finish`) and `dspy/adapters/types/tool.py` (after the name: `,
 * whose description is <desc>` or, without one, `. It takes arguments`).
 */
export function readListedTools(instruction: string): readonly string[] | undefined {
  const names = instruction.split('\n').flatMap((line) => readListedTool(line) ?? []);
  return names.length === 0 ? undefined : names;
}

const number = /^\s*\(\d{1,4}\) /;
const afterName = [', whose description is <desc>', '. It takes arguments'];

function readListedTool(line: string): string | undefined {
  const [start] = number.exec(line) ?? [];
  if (start === undefined) return undefined;
  const ends = afterName.map((text) => line.indexOf(text)).filter((at) => at > start.length);
  return ends.length === 0 ? undefined : line.slice(start.length, Math.min(...ends));
}
