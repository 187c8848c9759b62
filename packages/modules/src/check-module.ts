import { isHoldfastError } from '@holdfast/core';
import { findDemoProblems } from './check-demos.ts';
import { compareSignature } from './compare-signature.ts';
import { type ExtraNames, extraNamesOf, extraNamesOfDemos, extraNamesOfExtraction } from './extra-fields.ts';
import type { ModuleDefinition } from './module-definition.ts';
import { cutProblems, type FileProblem, problemAt } from './module-problem.ts';
import { type Program, toProgram } from './program.ts';
import { createTextPrograms, type TextTuning } from './react-step.ts';
import type { Signature } from './signature.ts';

/** A module with its signature, and all in which the two do not fit. */
export interface CheckedModule {
  /** Absent after an error. */
  readonly program: Program | undefined;
  readonly problems: readonly FileProblem[];
}

export function checkModule(definition: ModuleDefinition, signatures: ReadonlyMap<string, Signature>): CheckedModule {
  const { signature_name: name } = definition;
  const signature = signatures.get(name);
  if (signature === undefined) return { program: undefined, problems: [signatureNotFound(name, signatures)] };
  const found = findProblems(definition, signature);
  const errors = found.filter(({ severity }) => severity === 'error');
  const warnings = found.filter(({ severity }) => severity === 'warning');
  const problems = cutProblems([...errors, ...warnings]);
  if (errors.length > 0) return { program: undefined, problems };
  try {
    const program = toProgram(signature, definition.predictor_type, definition);
    // Steps have fields, for which the signature may have no room.
    if (definition.tool_protocol === 'text') createTextPrograms(signature, toTextTuning(definition));
    return { program, problems };
  } catch (thrown) {
    // The signature has no room for what the predictor adds.
    if (!isHoldfastError(thrown)) throw thrown;
    const problem: FileProblem = { ...problemAt('predictor_type', thrown.code, thrown.message), severity: 'error' };
    return { program: undefined, problems: [...problems, problem] };
  }
}

function toTextTuning({ instruction, demos, descriptions, extract, lists_tools }: ModuleDefinition): TextTuning {
  return {
    demos,
    listsTools: lists_tools ?? false,
    extract: extract ?? {},
    ...(instruction === undefined ? {} : { instruction }),
    ...(descriptions === undefined ? {} : { descriptions }),
  };
}

function findProblems(definition: ModuleDefinition, signature: Signature): readonly FileProblem[] {
  const { signature: declared, demos, descriptions, extract } = definition;
  const extra = extraNamesOf(definition);
  const extraOfDemos = extraNamesOfDemos(definition);
  const ofExtraction = { signature, extra: extraNamesOfExtraction };
  return [
    ...(declared === undefined ? [] : compareSignature(declared, signature, extraOfDemos)),
    ...findUnknownDescriptions(descriptions, { signature, extra, below: '' }),
    ...findDemoProblems(demos, { signature, extra: extraOfDemos, below: 'demos' }),
    ...findUnknownDescriptions(extract?.descriptions, { ...ofExtraction, below: 'extract.' }),
    ...findDemoProblems(extract?.demos ?? [], { ...ofExtraction, below: 'extract.demos' }),
  ];
}

function signatureNotFound(name: string, signatures: ReadonlyMap<string, Signature>): FileProblem {
  const known = [...signatures.keys()].slice(0, 20).map((one) => `\`${one}\``);
  const registered = known.length === 0 ? 'none is' : `registered are ${known.join(', ')}`;
  const message = `No signature \`${name}\` is registered; ${registered}.`;
  return { ...problemAt('signature_name', 'modules.signature_not_found', message), severity: 'error' };
}

function findUnknownDescriptions(
  descriptions: Readonly<Record<string, string>> | undefined,
  { signature, extra, below }: { readonly signature: Signature; readonly extra: ExtraNames; readonly below: string },
): readonly FileProblem[] {
  const fields = [...signature.inputs, ...signature.outputs].map(({ name }) => name);
  const known = new Set([...fields, ...extra.inputs, ...extra.outputs]);
  const unknown = Object.keys(descriptions ?? {}).filter((name) => !known.has(name));
  return unknown.map((name) => {
    const place = `${below}descriptions.${name.slice(0, 100)}`;
    const message = `\`${signature.name}\` has no such field; it has ${[...known].map((one) => `\`${one}\``).join(', ')}.`;
    return { ...problemAt(place, 'modules.description_unknown', message), severity: 'error' };
  });
}
