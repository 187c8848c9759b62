import { HoldfastError, type ToolCallEndEvent, type TraceEntry } from '@holdfast/core';

/** How calls are made, beyond what their tools declare. What is the same for many calls is looked at once when it is one object. */
export interface CallManner {
  /**
   * Longest that one attempt may take, in milliseconds. The tool's own `timeoutMs` holds for all of them. Default: only that.
   */
  readonly attemptTimeoutMs?: number;
  /**
   * How often the tool may be run, the first included, 1 to 1,001: where it fails, and where it may be repeated `safe`ly also where the
   * time of an attempt is over and it has stopped before the next. A tool that may not be repeated is run once. Default: as the tool declares.
   */
  readonly attempts?: number;
  /**
   * What is waited after the attempt of that number, counted from 1, in milliseconds. Asked before the call begins, for all attempts.
   * Default: as the tool declares, else doubling from 1,000 to 60,000.
   */
  readonly delayMs?: (attempt: number) => number;
  /** What the tool of the call sees as `context.trace`. */
  readonly trace?: (callId: string) => readonly TraceEntry[];
  /** Gets the one end event of the call, once the log has it. */
  readonly onEnd?: (event: ToolCallEndEvent) => void;
}

/** A manner that has been checked. */
export interface CheckedManner extends Omit<CallManner, 'delayMs'> {
  /** After each attempt but the last. */
  readonly delaysMs: readonly number[] | undefined;
}

const maxAttempts = 1_001;
/** What a tool itself declares at most. */
const maxDeclared = 10;

/** @throws HoldfastError `options.invalid`, and what `delayMs` throws: nothing of the call has begun. */
export function checkManner({ delayMs, ...manner }: CallManner): CheckedManner {
  const { attempts, attemptTimeoutMs } = manner;
  if (attempts !== undefined && !(Number.isInteger(attempts) && attempts >= 1 && attempts <= maxAttempts)) {
    throw invalid('attempts', `a whole number from 1 to ${maxAttempts}`, attempts);
  }
  if (attemptTimeoutMs !== undefined && !(Number.isFinite(attemptTimeoutMs) && attemptTimeoutMs > 0)) {
    throw invalid('attemptTimeoutMs', 'a positive number of milliseconds', attemptTimeoutMs);
  }
  const delaysMs = delayMs && Array.from({ length: (attempts ?? maxDeclared) - 1 }, (_, index) => delayMs(index + 1));
  const wrong = delaysMs?.find((ms) => !(Number.isFinite(ms) && ms >= 0));
  if (wrong !== undefined) throw invalid('delayMs', 'a number of milliseconds, 0 or more, for each attempt', wrong);
  return { ...manner, delaysMs };
}

function invalid(name: string, expected: string, got: unknown): HoldfastError {
  return new HoldfastError('options.invalid', `\`${name}\` of a call must be ${expected}, got ${String(got)}.`);
}
