import type { Json, JsonObject } from './json.ts';

/** The options of `HoldfastError`. */
export interface HoldfastErrorOptions {
  /** Facts for logs and programs, as JSON. */
  readonly data?: Json;
  /** The original error. Never shown to a model. */
  readonly cause?: unknown;
}

/**
 * The one error class of Holdfast. `code` is the contract (dotted, lower case), `data.reason` the finer kind for codes that have
 * several, `message` is for people and models: the offender in backticks, what was expected, what to do.
 */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: string;
  readonly data: Json;
  readonly '~holdfast' = 'error';

  constructor(code: string, message: string, { data = null, cause }: HoldfastErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
  }

  /** The finer kind of the error within its code: `data.reason`. */
  get reason(): string | undefined {
    const { data } = this;
    const reason = typeof data === 'object' && data !== null && 'reason' in data ? data['reason'] : undefined;
    return typeof reason === 'string' ? reason : undefined;
  }
}

/** Makes errors of one code with a reason; `data` gets the reason. */
export type ReasonedError<Reason extends string> = (
  reason: Reason,
  message: string,
  options?: { readonly data?: JsonObject; readonly cause?: unknown },
) => HoldfastError;

/** The maker of the errors of `code`, each with one of its reasons. */
export function errorsOf<Reason extends string>(code: string): ReasonedError<Reason> {
  return (reason, message, { data, cause } = {}) =>
    new HoldfastError(code, message, { data: { ...data, reason }, cause });
}

/** A code with its finer kind, as people read it: `usage.invalid: folder_missing`, or the code alone. */
export function describeCode({ code, reason }: Kind): string {
  return reason === undefined ? code : `${code}: ${reason}`;
}

/** A code with its finer kind, if the code has several. */
interface Kind {
  readonly code: string;
  readonly reason?: string | undefined;
}

/** Recognises the errors of any copy of this package, which `instanceof` does not. */
export function isHoldfastError(value: unknown): value is HoldfastError {
  try {
    if (!(value instanceof Error && '~holdfast' in value && value['~holdfast'] === 'error')) return false;
    return 'code' in value && typeof value.code === 'string';
  } catch {
    // Such as a revoked proxy, which cannot be inspected and is not a HoldfastError.
    return false;
  }
}

/** A reason that is returned rather than thrown: the same code, message and data without the cost of a stack. */
export interface Problem extends Kind {
  readonly message: string;
  readonly data?: Json;
}

/** The data of an error with the reason of `problem`. */
export function toReason({ reason }: { readonly [Key in keyof Kind]?: Kind[Key] | undefined }): JsonObject {
  return reason === undefined ? {} : { reason };
}

/** The message of anything thrown, including `null`, symbols, and objects whose `message` throws. Never a stack. */
export function describeThrown(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown;
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown;
      if (typeof message === 'string' && message !== '') return message;
    }
    return `a thrown ${thrown === null ? 'null' : typeof thrown}`;
  } catch {
    // A hostile getter or proxy.
    return 'something thrown that cannot be described';
  }
}

const reasonPattern = /^[a-z][a-z0-9_.-]{0,99}$/;

/** The code and reason of a thrown HoldfastError, or those of `fallback`. Text that is not like a reason stays in the error's data. */
export function toProblem(
  thrown: unknown,
  { code, reason }: Omit<Problem, 'message'>,
  message: string = describeThrown(thrown),
): Problem {
  try {
    if (!isHoldfastError(thrown)) return { code, reason, message };
    const { code: known, reason: finer } = thrown;
    return { code: known, reason: finer !== undefined && reasonPattern.test(finer) ? finer : undefined, message };
  } catch {
    // A getter of the error throws.
    return { code, reason, message };
  }
}
