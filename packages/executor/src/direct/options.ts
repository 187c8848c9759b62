import { HoldfastError } from '@holdfast/core';
import { checkOptions, type OptionRules } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { checkRedactor } from '@holdfast/session/internal';
import type { CallManner, CheckedManner } from '../call/execute.ts';

const rules: OptionRules = {
  tools: 'list!',
  session: 'object!',
  policies: 'list',
  resources: 'object',
  grants: 'list',
  facts: 'object',
  request: 'text',
  approve: 'function',
  unattended: 'boolean',
  approvalTimeoutMs: 'number',
  signal: 'object',
  timeoutMs: 'number',
  budget: 'object',
  policyTimeoutMs: 'number',
  maxResultChars: 'any',
  onEvent: 'function',
  clock: 'object',
};
const runRules: OptionRules = {
  ...rules,
  tools: 'list',
  instructions: 'text',
  model: 'object!',
  prompt: 'object',
  maxRounds: 'any',
};
/** Checks the options of every runner; detailed only if something looks wrong. @throws HoldfastError `options.invalid`. */
export function checkCallOptions(options: unknown): void {
  if (!looksRight(options)) checkOptions('A runner', options, rules, { strays: 'misspelled' });
  if (!hasSession(options)) {
    throw new HoldfastError('options.invalid', '`session` must be a session: create it with `createSession`.', {
      data: { option: 'session', reason: 'kind' },
    });
  }
  // The session may come from another version of the package.
  checkRedactor(options.session.redactor);
}

/** Checks the options of `runAgent` and those like it. `own`: the rules of other options. @throws HoldfastError `options.invalid`. */
export function checkRunOptions(runner: string, options: unknown, own: OptionRules): void {
  checkOptions(runner, options, { ...runRules, ...own }, { strays: 'misspelled' });
  const { model, prompt, instructions } = options as Readonly<Record<string, unknown>>;
  checkOptions('model', model, { stream: 'function!' }, { strays: 'misspelled' });
  if (prompt === undefined && instructions !== undefined) return;
  if (prompt !== undefined && instructions === undefined) {
    checkOptions('prompt', prompt, { render: 'function!', opening: 'function' }, { strays: 'misspelled' });
    return;
  }
  const both = prompt === undefined ? 'neither' : 'both';
  throw new HoldfastError(
    'options.invalid',
    `\`${runner}\` takes either \`prompt\` or \`instructions\`; it got ${both}.`,
    { data: { reason: both === 'both' ? 'unknown' : 'missing', option: 'prompt' } },
  );
}

// Runs for every direct call, so only a few comparisons.
function looksRight(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return false;
  const { tools, session, policies, grants, approve, onEvent } = options as Readonly<Record<string, unknown>>;
  return (
    Array.isArray(tools) &&
    session !== undefined &&
    (policies === undefined || Array.isArray(policies)) &&
    (grants === undefined || Array.isArray(grants)) &&
    (approve === undefined || typeof approve === 'function') &&
    (onEvent === undefined || typeof onEvent === 'function')
  );
}

function hasSession(options: unknown): options is { readonly session: Session } {
  const { session } = options as { readonly session?: unknown };
  return typeof session === 'object' && session !== null && 'record' in session && 'begin' in session;
}
const maxAttempts = 1_001;
/** The most attempts that a tool can declare. */
const maxDeclared = 10;

/** @throws HoldfastError `options.invalid`, or the error of `delayMs`. The call has not begun. */
export function checkManner({ delayMs, ...manner }: CallManner): CheckedManner {
  const { attempts, attemptTimeoutMs } = manner;
  if (attempts !== undefined && !(Number.isInteger(attempts) && attempts >= 1 && attempts <= maxAttempts)) {
    throw invalid('attempts', `an integer from 1 to ${maxAttempts}`, attempts);
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
