import { HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ModuleDefinition, Signature } from '@holdfast/modules';
import type { Demo, Tuning } from '@holdfast/modules/internal';
import { type DspyField, type DspyPredictorKind, inferDspyPrefix, listDspyFields, placeholder } from './fields.ts';
import { joinPath } from './findings.ts';
import { extractPath } from './modules.ts';
import { versionNames } from './state.ts';

export interface ExportDspyOptions {
  /** The signatures that the modules name. */
  readonly signatures: readonly Signature[];
}

/**
 * Writes a state file that DSPy 3 loads into a program with the same modules. The place of a module in the program is its
 * `metadata.dspy.path`, which an import sets; a single module without one is the program itself. LM settings are left to the program.
 *
 * Sources: DSPy `dspy/primitives/base_module.py` (`load` reads `metadata.dependency_versions`, which may contain only `python`, `dspy` and
 * `cloudpickle`), `dspy/predict/predict.py` (`load_state` reads `signature` and `lm`, and sets `traces`, `train` and `demos`),
 * `dspy/signatures/signature.py` (`load_state` reads `instructions`, and `prefix` and `description` of each field).
 *
 * @throws HoldfastError `dspy.invalid`: no modules, a missing signature, two modules with the same path, several modules without
 * paths, a `react` module whose instruction does not list the tools, or a demo with an unknown field.
 */
export function exportDspy(modules: readonly ModuleDefinition[], { signatures }: ExportDspyOptions): string {
  if (modules.length === 0) throw invalid('No module to export. Pass at least one.');
  const byName = new Map(signatures.map((signature) => [signature.name, signature]));
  const states = new Map<string, JsonObject>();
  for (const module of modules) {
    const signature = byName.get(module.signature_name);
    if (signature === undefined) {
      throw invalid(
        `\`${module.module_id}\` needs the signature \`${module.signature_name}\`. Add it to \`signatures\`.`,
      );
    }
    for (const [path, state] of toStates(module, { signature, isOnly: modules.length === 1 })) {
      if (states.has(path)) throw invalid(`\`${module.module_id}\`: another module also has the path \`${path}\`.`);
      states.set(path, state);
    }
  }
  const single = states.get('');
  const state = {
    ...(single ?? Object.fromEntries(states)),
    metadata: { dependency_versions: mergeVersions(modules) },
  };
  return `${JSON.stringify(state, undefined, 2)}\n`;
}

interface ModulePlace {
  readonly signature: Signature;
  readonly isOnly: boolean;
}

/** The state of a predictor, or of the two of a ReAct. */
function toStates(
  module: ModuleDefinition,
  { signature, isOnly }: ModulePlace,
): readonly (readonly [string, JsonObject])[] {
  const { module_id: id, predictor_type: kind, extract = {} } = module;
  const notes = readNotes(module);
  const path = notes['path'] ?? (isOnly ? '' : undefined);
  if (typeof path !== 'string' || !isPath(path) || (path === '' && !isOnly)) {
    throw invalid(`\`${id}\` needs \`metadata.dspy.path\`, its place in the DSPy program, such as \`hop[0]\`.`);
  }
  const write = (step: DspyPredictorKind, tuning: Tuning, prefixes: Json | undefined): JsonObject =>
    toState(tuning, { fields: listDspyFields(step, signature), signature, prefixes: toTexts(prefixes), id });
  switch (kind) {
    case 'predict':
      return [[path, write('predict', module, notes['prefixes'])]];
    case 'chain_of_thought':
      return [[joinPath(path, 'predict'), write('chain_of_thought', module, notes['prefixes'])]];
    case 'react':
      if (module.lists_tools !== true || module.instruction === undefined) {
        throw invalid(`\`${id}\`: the instruction of a DSPy ReAct must list the tools itself (\`lists_tools\`).`);
      }
      return [
        [joinPath(path, 'react'), write('react', module, notes['prefixes'])],
        [joinPath(path, extractPath), write('extract', extract, notes['extract_prefixes'])],
      ];
    default:
      return kind satisfies never;
  }
}

interface StateOf {
  readonly fields: readonly DspyField[];
  readonly signature: Signature;
  readonly prefixes: ReadonlyMap<string, string>;
  readonly id: string;
}

function toState(
  { instruction, demos = [], descriptions = {} }: Tuning,
  { fields, signature, prefixes, id }: StateOf,
): JsonObject {
  const described = new Map(Object.entries(descriptions));
  return {
    traces: [],
    train: [],
    demos: demos.map((demo, index) => flatten(demo, fields, `Demo ${index} of \`${id}\``)),
    signature: {
      instructions: instruction ?? signature.instruction,
      fields: fields.map(({ name, description }) => ({
        prefix: prefixes.get(name) ?? inferDspyPrefix(name),
        description: described.get(name) || description || placeholder(name),
      })),
    },
    lm: null,
  };
}

function flatten(demo: Demo, fields: readonly DspyField[], whose: string): JsonObject {
  for (const side of ['inputs', 'outputs'] as const) {
    const known = new Set(fields.filter((field) => field.side === side).map(({ name }) => name));
    const unknown = Object.keys(demo[side]).find((name) => !known.has(name));
    if (unknown !== undefined)
      throw invalid(`${whose}: the predictor has no \`${unknown.slice(0, 100)}\` among its ${side}.`);
  }
  const values = { ...demo.inputs, ...demo.outputs };
  return Object.fromEntries(
    fields.flatMap(({ name }) => (Object.hasOwn(values, name) ? [[name, values[name] as Json]] : [])),
  );
}

/** The notes of an import. Module files are untrusted. */
function readNotes({ metadata }: ModuleDefinition): JsonObject {
  const notes = metadata['dspy'];
  return isPlainObject(notes) ? (notes as JsonObject) : {};
}

function toTexts(value: Json | undefined): ReadonlyMap<string, string> {
  const entries = isPlainObject(value) ? Object.entries(value) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** DSPy only warns about other versions, so the first module with versions decides. */
function mergeVersions(modules: readonly ModuleDefinition[]): JsonObject {
  const merged = new Map<string, string>();
  for (const module of modules) {
    for (const [name, version] of toTexts(readNotes(module)['dependency_versions'])) {
      if (versionNames.some((known) => known === name) && !merged.has(name)) merged.set(name, version);
    }
  }
  return Object.fromEntries(merged);
}

/** Any path that cannot be mistaken for another key. */
function isPath(path: string): boolean {
  return path === '' || (path.length <= 500 && path !== 'metadata' && /^[\p{L}_]/u.test(path) && path !== '__proto__');
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('dspy.invalid', message, { data: { reason: 'export' } });
}
