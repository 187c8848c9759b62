import { HoldfastError, isHoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { isPlainObject, toPrintable, toReason } from '@holdfast/core/internal';

/** Reasons of `modules.invalid`. */
export type ModulesReason =
  | 'signature'
  | 'signature_duplicate'
  | 'signature_mismatch'
  | 'signature_not_found'
  | 'description_unknown'
  | 'demo'
  | 'field_type_unknown'
  | 'tools_not_enabled'
  | 'tool_duplicate'
  | 'tool_reserved'
  | 'input_reserved'
  | 'manifest'
  | 'manifest_missing'
  | 'path'
  | 'id_twin'
  | 'id_mismatch'
  | 'hash_mismatch'
  | 'file'
  | 'file_missing'
  | 'too_large'
  | 'unreadable';

/** A problem in a file. */
export interface ModuleProblem {
  readonly code: string;
  /** The finer kind, if the code has several. */
  readonly reason?: string | undefined;
  /** Includes the place. */
  readonly message: string;
  /** The place in the file: `demos[2].outputs.score`; empty for the whole file. */
  readonly place: string;
}

/** An error disables the module; a warning has no effect. */
export interface FileProblem extends ModuleProblem {
  readonly severity: 'error' | 'warning';
}

/** A problem found in a folder of modules. An `error` disables the module, or all modules if there is no `moduleId`. */
export interface ModuleDiagnostic extends FileProblem {
  /** The path of the file, as in `manifest.json`. */
  readonly path: string;
  readonly moduleId?: string;
}

/** A problem whose message begins with its place. Untrusted text in either is made printable. */
export function problemAt(place: string, reason: ModulesReason, message: string): ModuleProblem {
  return problemOf({ code: 'modules.invalid', reason, message }, place);
}

/** The problem of a thrown error. */
export function problemOf({ code, reason, message }: Omit<ModuleProblem, 'place'>, place = ''): ModuleProblem {
  const shown = toPrintable(place);
  return { code, reason, place: shown, message: `${shown === '' ? '' : `\`${shown}\`: `}${toPrintable(message)}` };
}

const maxProblems = 100;

/** Cuts a long list of problems, with a note about the rest. */
export function cutProblems<Problem extends ModuleProblem>(problems: readonly Problem[]): readonly Problem[] {
  const [first] = problems;
  if (first === undefined || problems.length <= maxProblems) return problems;
  const message = `${problems.length - maxProblems} more problems are not listed.`;
  return [...problems.slice(0, maxProblems), { ...first, place: '', message }];
}

/** An error with all of `problems` in its data. */
export function refusal(reason: string, message: string, problems: readonly ModuleProblem[]): HoldfastError {
  const [first] = problems;
  const more = problems.length > 1 ? ` There are ${problems.length - 1} more in \`data.problems\`.` : '';
  const listed = problems.map(({ code, place, message: says, ...kind }) => ({
    code,
    ...toReason(kind),
    place,
    message: says,
  }));
  return new HoldfastError('modules.invalid', `${message}: ${first?.message ?? ''}${more}`, {
    data: { reason, problems: listed },
  });
}

/** The kinds of errors that say whether trying again may help. The kind alone tells everything but the sentence. */
const kinds = {
  ModuleNotFound: { code: 'modules.file_failed', reason: 'not_found', recoverable: false },
  SignatureNotFound: { code: 'modules.invalid', reason: 'signature_not_found', recoverable: false },
  ToolsNotEnabled: { code: 'modules.invalid', reason: 'tools_not_enabled', recoverable: false },
  ToolNotFound: { code: 'modules.failed', reason: 'tool_not_found', recoverable: false },
  InvalidArguments: { code: 'modules.failed', reason: 'arguments', recoverable: false },
  ExecutionFailed: { code: 'modules.failed', reason: 'execution', recoverable: true },
  SerializationError: { code: 'modules.failed', reason: 'serialization', recoverable: false },
  MaxIterationsReached: { code: 'modules.stopped', reason: 'max_iterations', recoverable: false },
  OutputUnparsable: { code: 'modules.output_unparsable', recoverable: true },
  ModelFailed: { code: 'modules.failed', reason: 'model', recoverable: true },
} as const;

export type ModuleErrorKind = keyof typeof kinds;

/** `recoverable`: trying again may succeed. */
export interface ModuleError extends HoldfastError {
  readonly data: JsonObject & { readonly kind: ModuleErrorKind; readonly recoverable: boolean };
}

export interface ModuleErrorOptions {
  readonly data?: Readonly<Record<string, Json>>;
  readonly cause?: unknown;
}

export function moduleError(
  kind: ModuleErrorKind,
  message: string,
  { data = {}, cause }: ModuleErrorOptions = {},
): ModuleError {
  const { code, ...rest } = kinds[kind];
  // The data has the declared type.
  return new HoldfastError(code, message, { data: { ...rest, kind, ...data }, cause }) as ModuleError;
}

/** True if `value` is an error with `data.kind` and `data.recoverable`. */
export function isModuleError(value: unknown): value is ModuleError {
  if (!isHoldfastError(value) || !isPlainObject(value.data)) return false;
  return Object.hasOwn(kinds, String(value.data['kind'])) && value.code.startsWith('modules.');
}
