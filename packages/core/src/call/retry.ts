import type { Problem } from '../basics/errors.ts';
import { isPlainObject } from '../basics/json.ts';
import type { Repeat } from './tool.ts';

/** How often a tool is run in one call, as long as it fails. */
export interface ToolRetry {
  /** At most, the first included: 2 to 10. */
  readonly attempts: number;
  /**
   * Between the first and the second, in milliseconds, 0 to 60,000. From one to the next it doubles, up to 60,000. Default 1,000.
   */
  readonly delayMs?: number;
}

const maxAttempts = 10;
const maxDelayMs = 60_000;
const defaultDelayMs = 1_000;

/** Why a tool that may be repeated as `repeat` says cannot have `retry`, or `undefined`. */
export function findRetryProblem(retry: unknown, repeat: Repeat): Problem | undefined {
  if (!isPlainObject(retry)) return invalid('must be an object such as `{ attempts: 3 }`');
  const unknown = Object.keys(retry).find((key) => key !== 'attempts' && key !== 'delayMs');
  if (unknown !== undefined) return invalid(`has \`attempts\` and \`delayMs\`, and no \`${unknown}\``);
  const { attempts, delayMs } = retry;
  if (!isWhole(attempts, 2, maxAttempts)) return invalid(`needs \`attempts\`, a whole number from 2 to ${maxAttempts}`);
  if (delayMs !== undefined && !isWhole(delayMs, 0, maxDelayMs))
    return invalid(`takes as \`delayMs\` a whole number of milliseconds from 0 to ${maxDelayMs}`);
  if (repeat !== 'never') return undefined;
  const message = "`retry` needs `repeat: 'safe'` or `'keyed'`: a tool that may not be repeated is not run again.";
  return { code: 'tool.retry.not_repeatable', message };
}

/** `retry` with its defaults. Frozen. */
export function toRetry({ attempts, delayMs = defaultDelayMs }: ToolRetry): Required<ToolRetry> {
  return Object.freeze({ attempts, delayMs });
}

/** What is waited after the attempt of that number, counted from 1, before the next one. */
export function retryDelayMs({ delayMs }: Required<ToolRetry>, attempt: number): number {
  return Math.min(maxDelayMs, delayMs * 2 ** (attempt - 1));
}

function invalid(what: string): Problem {
  return { code: 'tool.retry.invalid', message: `\`retry\` ${what}.` };
}

function isWhole(value: unknown, from: number, to: number): boolean {
  return Number.isInteger(value) && Number(value) >= from && Number(value) <= to;
}
