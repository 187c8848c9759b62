import { HoldfastError, isHoldfastError, type Json, type JsonObject, toPrintable } from '@holdfast/core';

/** Something that is wrong with a file. */
export interface ModuleProblem {
  readonly code: string;
  /** Names the place, too. */
  readonly message: string;
  /** Where in the file: `demos[2].outputs.score`; empty for the file as a whole. */
  readonly place: string;
}

/** An error costs the module, a warning nothing. */
export interface FileProblem extends ModuleProblem {
  readonly severity: 'error' | 'warning';
}

/** What is said of a folder of modules when it is read. An `error` costs the module, or all of them where no `moduleId` is named. */
export interface ModuleDiagnostic extends FileProblem {
  /** Of the file, as `manifest.json` names it. */
  readonly path: string;
  readonly moduleId?: string;
}

/** A problem whose message begins with its place. What somebody else wrote is in both, and is made safe to print. */
export function problemAt(place: string, code: string, message: string): ModuleProblem {
  const shown = toPrintable(place);
  return { code, place: shown, message: `${shown === '' ? '' : `\`${shown}\`: `}${toPrintable(message)}` };
}

const maxProblems = 100;

/** As many as anybody reads, and how many more there are. */
export function cutProblems<Problem extends ModuleProblem>(problems: readonly Problem[]): readonly Problem[] {
  const [first] = problems;
  if (first === undefined || problems.length <= maxProblems) return problems;
  const more = { ...first, ...problemAt('', first.code, `And ${problems.length - maxProblems} problems more.`) };
  return [...problems.slice(0, maxProblems), more];
}

/** An error that tells all of `problems` in its data. */
export function refusal(code: string, message: string, problems: readonly ModuleProblem[]): HoldfastError {
  const [first] = problems;
  const more = problems.length > 1 ? ` And ${problems.length - 1} more, see \`data.problems\`.` : '';
  return new HoldfastError(code, `${message}: ${first?.message ?? ''}${more}`, {
    data: { problems: problems.map(({ code: of, place, message: says }) => ({ code: of, place, message: says })) },
  });
}

/** What is wrong, by the code of its error. Whoever reads only the kind misses nothing but the sentence. */
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

/** Codes of errors that programs tell apart by `data.kind` and `data.recoverable`, too. */
export type ModuleErrorCode = keyof typeof kinds;

export type ModuleErrorKind = (typeof kinds)[ModuleErrorCode]['kind'];

/** `recoverable`: the same again may go well. */
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
  // The data is what its type says.
  return new HoldfastError(code, message, { data: { ...kinds[code], ...data }, cause }) as ModuleError;
}

/** Whether `value` is an error of a kind that tells whether trying again may help. */
export function isModuleError(value: unknown): value is ModuleError {
  return isHoldfastError(value) && Object.hasOwn(kinds, value.code);
}
