import { HoldfastError, isHoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';

/** A problem in a file. */
export interface ModuleProblem {
  readonly code: string;
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
export function problemAt(place: string, code: string, message: string): ModuleProblem {
  const shown = toPrintable(place);
  return { code, place: shown, message: `${shown === '' ? '' : `\`${shown}\`: `}${toPrintable(message)}` };
}

const maxProblems = 100;

/** Cuts a long list of problems, with a note about the rest. */
export function cutProblems<Problem extends ModuleProblem>(problems: readonly Problem[]): readonly Problem[] {
  const [first] = problems;
  if (first === undefined || problems.length <= maxProblems) return problems;
  const more = {
    ...first,
    ...problemAt('', first.code, `${problems.length - maxProblems} more problems are not listed.`),
  };
  return [...problems.slice(0, maxProblems), more];
}

/** An error with all of `problems` in its data. */
export function refusal(code: string, message: string, problems: readonly ModuleProblem[]): HoldfastError {
  const [first] = problems;
  const more = problems.length > 1 ? ` There are ${problems.length - 1} more in \`data.problems\`.` : '';
  return new HoldfastError(code, `${message}: ${first?.message ?? ''}${more}`, {
    data: { problems: problems.map(({ code: of, place, message: says }) => ({ code: of, place, message: says })) },
  });
}

/** The kind of problem, by error code. The kind alone tells everything but the sentence. */
const kinds = {
  'modules.not_found': { kind: 'ModuleNotFound', recoverable: false },
  'modules.signature_not_found': { kind: 'SignatureNotFound', recoverable: false },
  'modules.tools_not_enabled': { kind: 'ToolsNotEnabled', recoverable: false },
  'modules.tool_not_found': { kind: 'ToolNotFound', recoverable: false },
  'modules.invalid_arguments': { kind: 'InvalidArguments', recoverable: false },
  'modules.execution_failed': { kind: 'ExecutionFailed', recoverable: true },
  'modules.serialization': { kind: 'SerializationError', recoverable: false },
  'modules.max_iterations': { kind: 'MaxIterationsReached', recoverable: false },
  'modules.output_unparsable': { kind: 'OutputUnparsable', recoverable: true },
  'modules.model_failed': { kind: 'ModelFailed', recoverable: true },
} as const;

/** Codes of errors that also have `data.kind` and `data.recoverable`. */
export type ModuleErrorCode = keyof typeof kinds;

export type ModuleErrorKind = (typeof kinds)[ModuleErrorCode]['kind'];

/** `recoverable`: trying again may succeed. */
export interface ModuleError extends HoldfastError {
  readonly data: JsonObject & { readonly kind: ModuleErrorKind; readonly recoverable: boolean };
}

export interface ModuleErrorOptions {
  readonly data?: Readonly<Record<string, Json>>;
  readonly cause?: unknown;
}

export function moduleError(
  code: ModuleErrorCode,
  message: string,
  { data = {}, cause }: ModuleErrorOptions = {},
): ModuleError {
  // The data has the declared type.
  return new HoldfastError(code, message, { data: { ...kinds[code], ...data }, cause }) as ModuleError;
}

/** True if `value` is an error with `data.kind` and `data.recoverable`. */
export function isModuleError(value: unknown): value is ModuleError {
  return isHoldfastError(value) && Object.hasOwn(kinds, value.code);
}
