import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type DspyFindings, joinPath, quote } from './findings.ts';
import { isPickle, pickled } from './text.ts';

/** A field of a predictor's signature. States contain no field names; the position identifies a field. */
export interface DspyFieldState {
  readonly prefix: string;
  readonly description: string;
}

/** The parts of a predictor that are read. */
export interface DspyPredictorState {
  /** The path in the file; empty for a `Predict` that was saved alone. */
  readonly path: string;
  /** Default: that of the signature. */
  readonly instruction?: string;
  /** Absent in the format of dspy-rs. */
  readonly fields?: readonly DspyFieldState[];
  readonly demos: readonly Json[];
  readonly languageModel?: JsonObject;
}

export type DspyFormat = 'dspy' | 'dspy-rs';

export interface DspyState {
  readonly format: DspyFormat;
  /** The predictors that could be read. */
  readonly predictors: readonly DspyPredictorState[];
  /** The paths of all predictors in the file. */
  readonly paths: ReadonlySet<string>;
  /** The paths of everything that is not a predictor, such as the `k` of a retriever. */
  readonly others: readonly string[];
  /** The versions of `python`, `dspy` and `cloudpickle`, as far as given. */
  readonly versions: Readonly<Record<string, string>>;
}

const maxDemos = 1_000;
const maxPredictors = 200;
const maxPathLength = 200;
const maxInstructionLength = 200_000;

/** The versions that DSPy saves; it cannot load a state with others. */
export const versionNames = ['python', 'dspy', 'cloudpickle'] as const;

const oldKeys = ['signature_instructions', 'signature_prefix', 'extended_signature', 'extended_signature_instructions'];
const knownKeys = ['traces', 'train', 'demos', 'signature', 'lm', 'metadata'];
const quietKeys = ['traces', 'train'];

/**
 * Finds and reads the predictors of a state.
 *
 * Sources: DSPy `dspy/primitives/base_module.py` (`dump_state`: one key per predictor, named by `named_parameters`; `save` adds
 * `metadata.dependency_versions`), `dspy/predict/predict.py` (`dump_state`: `traces`, `train`, `demos`, `signature`, `lm`; a `Predict`
 * saved alone has them at the top; `load_state`: `extended_signature` is from 2.5 and earlier), `dspy/signatures/signature.py`
 * (`dump_state`: `instructions`, and a `prefix` and `description` for each field, in order). The Rust port (dspy-rs, `ModuleState`):
 * `predictors` by path, each with flat `demos` and an `instruction_override` that may be null.
 */
export function readDspyState(top: JsonObject, findings: DspyFindings): DspyState {
  const { predictors } = top;
  if (isPlainObject(predictors) && !isPredictor(predictors)) return readRust(top, predictors as JsonObject, findings);
  const versions = readVersions(top['metadata'], findings);
  const states: (readonly [string, Json])[] = isPredictor(top)
    ? [['', top]]
    : Object.entries(top).filter(([path]) => path !== 'metadata');
  if (Object.hasOwn(top, 'dependency_versions')) {
    const message = `This is the \`metadata.json\` of a \`program.pkl\`. ${pickled}`;
    findings.refuse('pickle', '', message);
    return { format: 'dspy', predictors: [], paths: new Set(), others: [], versions };
  }
  const paths = new Set(states.map(([path]) => path));
  const others = states.flatMap(([path, state]) =>
    isPredictor(state) || refersToPickle(state) || path.length > maxPathLength ? [] : [path],
  );
  return { format: 'dspy', predictors: readAll(states, findings, readPredictor), paths, others, versions };
}

type ReadPredictor = (path: string, state: Json, findings: DspyFindings) => DspyPredictorState | undefined;

function readAll(
  states: readonly (readonly [string, Json])[],
  findings: DspyFindings,
  read: ReadPredictor,
): readonly DspyPredictorState[] {
  if (states.length === 0) findings.refuse('state', '', 'The state has no predictors.');
  if (states.length > maxPredictors) {
    const message = `The program has ${states.length} predictors; the limit is ${maxPredictors}.`;
    findings.refuse('too_large', '', message);
    return [];
  }
  return states.flatMap(([path, state]) => {
    if (path.length <= maxPathLength) return read(path, state, findings) ?? [];
    const message = `The path ${quote(path)} of a predictor has ${path.length} characters; the limit is ${maxPathLength}.`;
    findings.refuse('too_large', path.slice(0, maxPathLength), message);
    return [];
  });
}

/** True if an object has the keys of a predictor of any version. */
function isPredictor(value: Json | Readonly<Record<string, unknown>>): boolean {
  if (!isPlainObject(value)) return false;
  const { signature } = value;
  if (Array.isArray(value['demos']) || oldKeys.some((key) => Object.hasOwn(value, key))) return true;
  return isPlainObject(signature) && Array.isArray(signature['fields']);
}

function readPredictor(path: string, state: Json, findings: DspyFindings): DspyPredictorState | undefined {
  if (refersToPickle(state)) findings.refuse('pickle', path, pickled);
  if (!isPlainObject(state) || !isPredictor(state)) return undefined;
  const old = oldKeys.filter((key) => Object.hasOwn(state, key));
  if (old.length > 0) {
    const named = old.map((key) => `\`${key}\``).join(', ');
    const message = `This is the format of DSPy 2.5 and earlier (${named}). Load it there and save it again with DSPy 2.6 or newer.`;
    findings.refuse('format_old', path, message);
    return undefined;
  }
  for (const key of quietKeys) if (hasContents(state[key])) findings.ignore(joinPath(path, key));
  ignoreOthers(path, state as JsonObject, { known: knownKeys, findings });
  const signature = readSignature(state['signature'], joinPath(path, 'signature'), findings);
  const demos = readDemos(state['demos'], joinPath(path, 'demos'), findings);
  if (signature === undefined || demos === undefined) return undefined;
  const { lm } = state;
  return { path, ...signature, demos, ...(isPlainObject(lm) ? { languageModel: lm as JsonObject } : {}) };
}

function ignoreOthers(
  path: string,
  state: JsonObject,
  { known, findings }: { readonly known: readonly string[]; readonly findings: DspyFindings },
): void {
  const others = Object.entries(state).filter(([key]) => !known.includes(key));
  for (const [key, value] of others) {
    const place = joinPath(path, key.slice(0, maxPathLength));
    if (refersToPickle(value)) findings.refuse('pickle', place, pickled);
    findings.ignore(place);
  }
  for (const [key] of others.slice(0, maxWarnings)) {
    const message = `Unknown key ${quote(key)}, which was ignored.`;
    findings.warn('key_ignored', joinPath(path, key.slice(0, maxPathLength)), message);
  }
  if (others.length > maxWarnings) {
    const message = `${others.length - maxWarnings} more unknown keys were ignored.`;
    findings.warn('key_ignored', path, message);
  }
}

const maxWarnings = 20;

function readSignature(
  value: unknown,
  path: string,
  findings: DspyFindings,
): Pick<DspyPredictorState, 'instruction' | 'fields'> | undefined {
  if (isPlainObject(value)) {
    const { instructions, fields } = value;
    if (isTooLong(instructions, path, findings)) return undefined;
    if (typeof instructions === 'string' && Array.isArray(fields) && fields.every(isFieldState))
      return { instruction: instructions, fields };
  }
  const message =
    'A signature must have `instructions` (text) and `fields`, each with a `prefix` and a `description` (text).';
  findings.refuse('state', path, message);
  return undefined;
}

function isTooLong(instruction: unknown, path: string, findings: DspyFindings): boolean {
  if (typeof instruction !== 'string' || instruction.length <= maxInstructionLength) return false;
  const message = `The instruction has ${instruction.length} characters; the limit is ${maxInstructionLength}.`;
  findings.refuse('too_large', path, message);
  return true;
}

function isFieldState(value: unknown): value is DspyFieldState {
  return isPlainObject(value) && typeof value['prefix'] === 'string' && typeof value['description'] === 'string';
}

function readDemos(value: unknown, path: string, findings: DspyFindings): readonly Json[] | undefined {
  if (!Array.isArray(value)) {
    findings.refuse('state', path, '`demos` must be a list.');
    return undefined;
  }
  if (value.length > maxDemos) {
    const message = `The predictor has ${value.length} demos; the limit is ${maxDemos}.`;
    findings.refuse('too_large', path, message);
    return undefined;
  }
  return value;
}

function readRust(top: JsonObject, predictors: JsonObject, findings: DspyFindings): DspyState {
  ignoreOthers('', top, { known: ['predictors'], findings });
  const read: ReadPredictor = (path, state) => {
    const override = isPlainObject(state) ? (state['instruction_override'] ?? undefined) : undefined;
    if (!isPlainObject(state) || (override !== undefined && typeof override !== 'string')) {
      const message = `${quote(path)} must have \`demos\` (a list) and \`instruction_override\` (text or null).`;
      findings.refuse('state', path, message);
      return undefined;
    }
    if (isTooLong(override, path, findings)) return undefined;
    ignoreOthers(path, state as JsonObject, { known: ['demos', 'instruction_override'], findings });
    const demos = readDemos(state['demos'] ?? [], joinPath(path, 'demos'), findings);
    return demos === undefined
      ? undefined
      : { path, demos, ...(override === undefined ? {} : { instruction: override }) };
  };
  const paths = new Set(Object.keys(predictors));
  return {
    format: 'dspy-rs',
    predictors: readAll(Object.entries(predictors), findings, read),
    paths,
    others: [],
    versions: {},
  };
}

/** DSPy 2.6 was the last version to change the format; tested with 3. */
function readVersions(metadata: unknown, findings: DspyFindings): Readonly<Record<string, string>> {
  const said = isPlainObject(metadata) ? metadata['dependency_versions'] : undefined;
  const versions = Object.fromEntries(
    versionNames.flatMap((name) => {
      const version: unknown = isPlainObject(said) && Object.hasOwn(said, name) ? said[name] : undefined;
      return typeof version === 'string' && version.length <= 50 ? [[name, version] as const] : [];
    }),
  );
  const version = versions['dspy'];
  if (version === undefined || !version.startsWith('3.')) {
    const which =
      version === undefined ? 'does not say which version of DSPy saved it' : `was saved by DSPy ${quote(version)}`;
    const message = `The state ${which}. Only states of DSPy 3 are tested.`;
    findings.warn('version_other', joinPath('metadata', 'dependency_versions'), message);
  }
  return versions;
}

function refersToPickle(value: unknown): boolean {
  return typeof value === 'string' && isPickle(value);
}

function hasContents(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
