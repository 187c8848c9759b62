import type { Signature } from '@holdfast/modules';
import { labelOf, squeeze } from './fields.ts';
import { type DspyFindings, joinPath, quote, quoteAll } from './findings.ts';
import type { DspyPredictorState, DspyState } from './state.ts';

/** The second predictor of a ReAct: a chain of thought named `extract`. */
export const extractPath = 'extract.predict';

/** A module of a DSPy program: one predictor, or the two of a ReAct. */
export interface DspyModule {
  /**
   * The path of the module in the program, empty for the program itself: `hop[1]` for the predictor `hop[1].predict` of a chain of thought.
   */
  readonly path: string;
  /** All accepted names. */
  readonly names: readonly string[];
  readonly step: DspyPredictorState;
  /** For a ReAct. */
  readonly extract?: DspyPredictorState;
}

/**
 * Groups the predictors of a program into modules: `react` and `extract.predict` form a ReAct, unless `named` names each of the two.
 *
 * Sources: DSPy `dspy/primitives/base_module.py` (`named_parameters`: `a.b`, `a[0]`, `a['k']`),
 * `dspy/predict/react.py`, `dspy/predict/chain_of_thought.py` (its predictor is named `predict`).
 */
export function groupDspyPredictors(
  { predictors, paths }: DspyState,
  named: ReadonlySet<string>,
  findings: DspyFindings,
): readonly DspyModule[] {
  const byPath = new Map(predictors.map((predictor) => [predictor.path, predictor]));
  const extractOf = ({ path }: DspyPredictorState): DspyPredictorState | undefined => {
    const base = stripEnd(path, 'react');
    const extract = base === undefined ? undefined : byPath.get(joinPath(base, extractPath));
    if (extract === undefined || (named.has(path) && namesOf(extract.path).some((name) => named.has(name))))
      return undefined;
    return extract;
  };
  const second = new Set(predictors.map(extractOf));
  return predictors.flatMap((step) => {
    if (second.has(step)) return [];
    const { path } = step;
    const extract = extractOf(step);
    if (extract !== undefined) {
      const base = stripEnd(path, 'react') ?? path;
      return [{ path: base, names: [base, path, extract.path], step, extract }];
    }
    const missing = findMissingHalf(step);
    if (missing === undefined) return [{ path, names: namesOf(path), step }];
    if (paths.has(missing)) return [];
    const message = `${quote(path)} is one half of a ReAct; the other half, ${quote(missing)}, is missing.`;
    findings.refuse('predictor_missing', missing, message);
    return [];
  });
}

/** A chain of thought is known by the path of its predictor and by its own. */
export function namesOf(path: string): readonly string[] {
  const own = stripEnd(path, 'predict') ?? stripEnd(path, 'predictor');
  return own === undefined ? [path] : [path, own];
}

/** The ReAct that a predictor may be half of. */
function halvesOf(path: string): readonly string[] {
  const base = stripEnd(path, 'react') ?? stripEnd(path, extractPath);
  return base === undefined ? [] : [base];
}

/** The other half of a ReAct, if missing. */
function findMissingHalf({ path, fields = [] }: DspyPredictorState): string | undefined {
  const labels = new Set(fields.map(({ prefix }) => squeeze(labelOf(prefix))));
  if (!labels.has('trajectory')) return undefined;
  const stepOf = stripEnd(path, 'react');
  if (stepOf !== undefined && labels.has('nexttoolname')) return joinPath(stepOf, extractPath);
  const extractOf = stripEnd(path, extractPath);
  return extractOf === undefined ? undefined : joinPath(extractOf, 'react');
}

/** `undefined` for a path without this ending. */
export function stripEnd(path: string, end: string): string | undefined {
  if (path === end) return '';
  return path.endsWith(`.${end}`) ? path.slice(0, -end.length - 1) : undefined;
}

export interface DspyPair {
  readonly module: DspyModule;
  readonly signature: Signature;
}

export interface DspyPairing {
  /** The paths of all predictors in the file, including unreadable ones. */
  readonly paths: ReadonlySet<string>;
  /** The paths of everything that is not a predictor. */
  readonly others: readonly string[];
  readonly allowExtra: boolean;
  readonly findings: DspyFindings;
}

/** Assigns the signature to the program itself or to its only module, whatever its path. */
export function pairOneModule(
  modules: readonly DspyModule[],
  signature: Signature,
  pairing: DspyPairing,
): readonly DspyPair[] {
  const only = modules.length === 1 ? modules[0] : undefined;
  const chosen = modules.find(({ names }) => names.includes('')) ?? only;
  reportExtra(
    modules.filter((module) => module !== chosen),
    pairing,
  );
  reportOthers(new Set(), pairing);
  if (chosen !== undefined) return [{ module: chosen, signature }];
  if (modules.length > 0) reportMissing('', pairing.findings, 'it has several predictors; pass `signatures` by path');
  else if (pairing.findings.problems.length === 0) reportMissing('', pairing.findings, 'it has no predictors');
  return [];
}

/** Assigns the signature of each module. A module without a signature, or a signature without a module, is a problem. */
export function pairDspyModules(
  modules: readonly DspyModule[],
  signatures: ReadonlyMap<string, Signature>,
  pairing: DspyPairing,
): readonly DspyPair[] {
  const unused = new Map(signatures);
  const pairs: DspyPair[] = [];
  const extra: DspyModule[] = [];
  for (const module of modules) {
    const name = module.names.find((candidate) => unused.has(candidate));
    const signature = name === undefined ? undefined : unused.get(name);
    if (name === undefined || signature === undefined) extra.push(module);
    else {
      unused.delete(name);
      pairs.push({ module, signature });
    }
  }
  reportExtra(extra, pairing);
  reportOthers(new Set(signatures.keys()), pairing);
  const known = new Set(modules.flatMap(({ names }) => names));
  // An unreadable predictor has already been reported.
  const present = new Set([...pairing.paths].flatMap((path) => [...namesOf(path), ...halvesOf(path)]));
  const has = quoteAll(modules.map(({ path }) => path));
  for (const path of unused.keys()) {
    if (known.has(path)) reportMissing(path, pairing.findings, 'that predictor already has another signature');
    else if (!present.has(path)) reportMissing(path, pairing.findings, `it has ${has}`);
  }
  return pairs;
}

function reportExtra(extra: readonly DspyModule[], { allowExtra, findings }: DspyPairing): void {
  for (const { path, step } of extra) {
    const message = `The file has a predictor ${quote(step.path)}, but no signature is given for ${quote(path)}.`;
    if (allowExtra) findings.warn('predictor_extra', path, `${message} It was left out.`);
    else findings.refuse('predictor_extra', path, message);
  }
}

/** DSPy saves everything that has parameters, but only a predictor can become a module. */
function reportOthers(named: ReadonlySet<string>, { others, allowExtra, findings }: DspyPairing): void {
  for (const path of others) {
    const message = `${quote(path)} is not the state of a predictor`;
    if (allowExtra && !named.has(path)) findings.warn('predictor_extra', path, `${message}. It was left out.`);
    else findings.refuse('state', path, `${message}. Set \`allowExtra\` to skip it.`);
  }
}

function reportMissing(path: string, findings: DspyFindings, has: string): void {
  const message =
    path === ''
      ? `The signature is for a program with one predictor, but the file does not match: ${has}.`
      : `A signature is given for ${quote(path)}, but the file has no such predictor; ${has}.`;
  findings.refuse('predictor_missing', path, message);
}
