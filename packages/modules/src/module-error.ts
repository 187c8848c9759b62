import { HoldfastError, isHoldfastError, type Json, type JsonObject } from '@holdfast/core';

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
