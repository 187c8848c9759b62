import { HoldfastError, type Json, type Tool } from '@holdfast/core';
import { deepFreeze, toReason } from '@holdfast/core/internal';
import { loadModules, type ModuleDefinition, memoryModules, type Signature, type ToolCatalog } from '@holdfast/modules';
import { findIdProblem, parseModule, stringifyModule } from '@holdfast/modules/internal';
import { type PlacedModule, placeDspyModule, toDefinition } from './definition.ts';
import { DspyFindings, type DspyProblem, joinPath } from './findings.ts';
import { type DspyPair, groupDspyPredictors, pairDspyModules, pairOneModule } from './modules.ts';
import { type DspyFormat, type DspyPredictorState, type DspyState, readDspyState } from './state.ts';
import { readDspyText } from './text.ts';

interface ImportOptions {
  /** The tools of a ReAct, whose instruction names them. Default none. */
  readonly tools?: readonly Tool[] | ToolCatalog;
  /** Default: the name of the signature. With several modules, the prefix of their ids, followed by the path; default: the path alone. */
  readonly moduleId?: string;
  /** Skip predictors without a signature, with a warning. Default: reject the file. */
  readonly allowExtra?: boolean;
}

/** The signature of a program with one module, or the signatures of several by path: `hop[0]`, `d['k']`. */
export type ImportDspyOptions = ImportOptions &
  (
    | { readonly signature: Signature; readonly signatures?: undefined }
    | { readonly signatures: Readonly<Record<string, Signature>>; readonly signature?: undefined }
  );

/** The model with which a predictor was saved. */
export interface DspyModelSuggestion {
  /** The path of the predictor. */
  readonly path: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** The number of other settings. Their names and values are not reported, because they may be keys and addresses. */
  readonly leftOut: number;
}

/** The findings of an import, besides the modules. */
export interface DspyReport {
  /** `sha256:` and the SHA-256 of the file's bytes in hexadecimal. */
  readonly digest: string;
  readonly format: DspyFormat;
  /** The versions with which the state was saved, as far as given: `dspy`, `python`, `cloudpickle`. */
  readonly versions: Readonly<Record<string, string>>;
  /** The ignored parts, with counts. */
  readonly ignored: readonly { readonly path: string; readonly count: number }[];
  readonly warnings: readonly DspyProblem[];
  /** The models with which the program was saved. They are not used. */
  readonly models: readonly DspyModelSuggestion[];
}

/** All or nothing: a file with any problem gives no modules, and all problems are listed. */
export type DspyImport =
  | { readonly type: 'imported'; readonly modules: readonly ModuleDefinition[]; readonly report: DspyReport }
  | { readonly type: 'refused'; readonly problems: readonly DspyProblem[] };

/**
 * Creates module definitions from a state that DSPy 3 or its Rust port saved as JSON: instructions, demos, and descriptions of fields.
 * Nothing in the file is evaluated. Fields are matched by position, as in DSPy; a file with evidence of different fields is rejected.
 *
 * Limits: 10 MB, 64 levels, 200 predictors, each with 1,000 demos and 200,000 characters of instruction; 8 MiB for a module file. The
 * sources of the format are in `state.ts`, `fields.ts`, `modules.ts`, `definition.ts`.
 *
 * Codes of problems: `dspy.invalid` with a reason, `modules.invalid` (the signature conflicts with a
 * field that the predictor adds).
 *
 * @throws HoldfastError `options.invalid` (`moduleId` is not a valid module id).
 */
export async function importDspy(source: string | Uint8Array, options: ImportDspyOptions): Promise<DspyImport> {
  const { moduleId } = options;
  const idProblem = moduleId === undefined ? undefined : findIdProblem(moduleId);
  if (idProblem !== undefined) throw new HoldfastError('options.invalid', `\`moduleId\`: ${idProblem}`);
  const text = await readDspyText(source);
  if (!text.ok) return deepFreeze({ type: 'refused', problems: [text.problem] });
  const findings = new DspyFindings();
  const state = readDspyState(text.state, findings);
  const { tools = [] } = options;
  const placed = pairModules(state, options, findings).map(placeDspyModule);
  const ids = chooseIds(placed, options);
  const modules = placed.map((module, index) =>
    toDefinition(module, { id: ids[index] ?? '', digest: text.digest, versions: state.versions, tools, findings }),
  );
  // Every imported module must load, so problems of loading are reported now.
  for (const [index, definition] of modules.entries()) await checkDefinition(definition, placed[index], findings);
  const { problems, warnings, ignored } = findings;
  if (problems.length > 0) return deepFreeze({ type: 'refused', problems });
  const report: DspyReport = {
    digest: text.digest,
    format: state.format,
    versions: state.versions,
    ignored: [...ignored].map(([path, count]) => ({ path, count })),
    warnings,
    models: suggestModels(state.predictors),
  };
  return deepFreeze({ type: 'imported', modules, report });
}

function pairModules(state: DspyState, options: ImportDspyOptions, findings: DspyFindings): readonly DspyPair[] {
  const { signature, signatures, allowExtra = false } = options;
  const pairing = { paths: state.paths, others: state.others, allowExtra, findings };
  if (signature !== undefined)
    return pairOneModule(groupDspyPredictors(state, new Set(), findings), signature, pairing);
  const named = new Map(Object.entries(signatures));
  return pairDspyModules(groupDspyPredictors(state, new Set(named.keys()), findings), named, pairing);
}

/** Paths contain characters that ids cannot. */
function chooseIds(placed: readonly PlacedModule[], { signature, moduleId }: ImportDspyOptions): readonly string[] {
  const taken = new Set<string>();
  return placed.map((module) => {
    if (signature !== undefined) return moduleId ?? module.signature.name;
    const path = module.path
      .replaceAll(/[^A-Za-z0-9_.]+/g, '-')
      .replaceAll(/-?\.-?/g, '.')
      .replaceAll(/^[^A-Za-z0-9]+|-$/g, '');
    const wanted = (path === '' ? (moduleId ?? module.signature.name) : joinPath(moduleId ?? '', path)).slice(0, 120);
    let id = wanted;
    for (let count = 2; taken.has(id); count += 1) id = `${wanted}-${count}`;
    taken.add(id);
    return id;
  });
}

const demoInvalid = { code: 'dspy.invalid', reason: 'demo_invalid' } satisfies Partial<DspyProblem>;

/** Finds problems that would prevent loading: a schema rule over two fields, a file that is too large. */
async function checkDefinition(
  definition: ModuleDefinition,
  placed: PlacedModule | undefined,
  findings: DspyFindings,
): Promise<void> {
  if (placed === undefined || findings.problems.length > 0) return;
  const { path, signature } = placed;
  const text = stringifyModule(definition);
  const parsed = parseModule(text);
  if (parsed.type === 'invalid') {
    for (const { code, reason, place, message } of parsed.problems)
      findings.problems.push({ code, ...toReason({ reason }), path: joinPath(path, place), message });
    return;
  }
  const modules = { [definition.module_id]: { path: 'module.json', hash: null, tags: [] } };
  const files = { 'manifest.json': JSON.stringify({ version: '1.0', modules }), 'module.json': text };
  const { diagnostics } = await loadModules(memoryModules(files), { signatures: [signature] });
  for (const { code, reason, place, message, severity } of diagnostics) {
    const list = severity === 'error' ? findings.problems : findings.warnings;
    list.push({
      ...(reason === 'demo' ? demoInvalid : { code, ...toReason({ reason }) }),
      path: joinPath(path, place),
      message,
    });
  }
}

/**
 * The reported settings of a saved LM. Keys, addresses and unknown settings are left out, because states are shared.
 *
 * Source: DSPy `dspy/predict/predict.py` (`lm`) and `dspy/clients/base_lm.py` (`dump_state`: the model, and all of its arguments).
 */
const told: ReadonlySet<string> = new Set([
  'model',
  'model_type',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
]);

function suggestModels(predictors: readonly DspyPredictorState[]): readonly DspyModelSuggestion[] {
  return predictors.flatMap(({ path, languageModel }) => {
    if (languageModel === undefined) return [];
    const entries = Object.entries(languageModel);
    const settings = entries.filter(
      (entry): entry is [string, string | number | boolean] => told.has(entry[0]) && isShort(entry[1]),
    );
    return [{ path, settings: Object.fromEntries(settings), leftOut: entries.length - settings.length }];
  });
}

function isShort(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 200);
}
