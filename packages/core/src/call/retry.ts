import type { Problem } from '../basics/errors.ts';
import { isPlainObject } from '../basics/json.ts';
import type { Repeat } from './tool.ts';

/** How often a failing tool runs within one call. */
export interface ToolRetry {
  /** Maximum number of attempts, 2 to 10. */
  readonly attempts: number;
  /** Delay before the second attempt, in milliseconds, 0 to 60,000. It doubles with each attempt, up to 60,000. Default 1,000. */
  readonly delayMs?: number;
}

const maxAttempts = 10;
const maxDelayMs = 60_000;
const defaultDelayMs = 1_000;

/** Why a tool with this `repeat` cannot have `retry`, or `undefined`. */
export function findRetryProblem(retry: unknown, repeat: Repeat): Problem | undefined {
  if (!isPlainObject(retry)) return invalid('must be an object such as `{ attempts: 3 }`');
  const unknown = Object.keys(retry).find((key) => key !== 'attempts' && key !== 'delayMs');
  if (unknown !== undefined) return invalid(`has the unknown key \`${unknown}\`; known: \`attempts\`, \`delayMs\``);
  const { attempts, delayMs } = retry;
  if (!isWhole(attempts, 2, maxAttempts)) return invalid(`needs \`attempts\`, an integer from 2 to ${maxAttempts}`);
  if (delayMs !== undefined && !isWhole(delayMs, 0, maxDelayMs))
    return invalid(`needs \`delayMs\` to be an integer number of milliseconds from 0 to ${maxDelayMs}`);
  if (repeat !== 'never') return undefined;
  const message = "`retry` needs `repeat: 'safe'` or `'keyed'`: a tool that may not be repeated cannot be retried.";
  return { code: 'tool.invalid', reason: 'retry.not_repeatable', message };
}

/** `retry` with its defaults. Frozen. */
export function toRetry({ attempts, delayMs = defaultDelayMs }: ToolRetry): Required<ToolRetry> {
  return Object.freeze({ attempts, delayMs });
}

/** The delay after the attempt with this number, counted from 1. */
export function retryDelayMs({ delayMs }: Required<ToolRetry>, attempt: number): number {
  return Math.min(maxDelayMs, delayMs * 2 ** (attempt - 1));
}

function invalid(what: string): Problem {
  return { code: 'tool.invalid', reason: 'retry.invalid', message: `\`retry\` ${what}.` };
}

function isWhole(value: unknown, from: number, to: number): boolean {
  return Number.isInteger(value) && Number(value) >= from && Number(value) <= to;
}
