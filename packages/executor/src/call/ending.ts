import {
  isHoldfastError,
  type Json,
  type Outcome,
  type OutcomeKind,
  type PolicyDecision,
  type Redactor,
  type Tool,
  type ToolCallEndEvent,
} from '@holdfast/core';
import {
  copyJson,
  describeThrown,
  forModel,
  isPlainObject,
  nearestNames,
  type RecordedOutcome,
  renderPlainly,
  sha256,
  toOutcomeText,
  toProblem,
} from '@holdfast/core/internal';
import type { OmittedArguments, Problem, ThrownError, Touched } from '@holdfast/core/types';
import type { CompiledTool, Ended, Ending, EndOfLife, Invoked } from './types.ts';

/** The ending of an unsuccessful call. */
export function failure(
  kind: Exclude<OutcomeKind, 'ok'>,
  { code, reason, message }: Problem,
  details: { readonly thrown?: unknown; readonly value?: Json; readonly abandoned?: boolean } = {},
): Ending {
  const { value = null, thrown, abandoned } = details;
  const rendered = renderPlainly(kind, value);
  const safe = forModel(message);
  return {
    kind,
    code,
    reason,
    message: safe,
    value,
    rendered,
    text: toOutcomeText(kind, safe, rendered),
    ...(thrown === undefined ? {} : { error: toThrownError(thrown) }),
    ...(abandoned === true ? { abandoned } : {}),
  };
}

export function denied(decisions: readonly PolicyDecision[]): Ending {
  const denials = decisions.filter(({ type }) => type === 'deny');
  const reasons = [...new Set(denials.map(({ reason = '' }) => reason))];
  const code = denials.find((denial) => denial.code !== undefined)?.code ?? 'policy.denied';
  return failure('denied', { code, message: `Denied: ${reasons.join(' ')}` });
}

/** `names`: the existing tools; `undefined` if the tool exists but is not offered. */
export function unknownTool(name: string, names: Iterable<string> | undefined): Ending {
  const shown = name.slice(0, 100);
  if (names === undefined) {
    const message = `\`${shown}\` is not available: its section is collapsed or disabled. Tools of a section you open become available in your next message.`;
    return failure('unknown-tool', { code: 'tool.unknown', message });
  }
  const all = [...names];
  const nearest = nearestNames(name, all);
  const hint =
    nearest.length > 0
      ? `Did you mean ${nearest.map((near) => `\`${near}\``).join(', ')}?`
      : `Available: ${all.slice(0, 20).join(', ')}.`;
  return failure('unknown-tool', { code: 'tool.unknown', message: `There is no tool \`${shown}\`. ${hint}` });
}

const ends = {
  aborted: { kind: 'cancelled', code: 'call.aborted', what: 'The run was cancelled' },
  deadline: { kind: 'timed-out', code: 'call.deadline', what: 'The deadline passed' },
  budget: { kind: 'timed-out', code: 'budget.used', reason: 'time', what: 'The time budget was used up' },
} as const;

/** Ends a call that must stop before it has begun or been committed. */
export function endOfLife(
  name: string,
  ended: EndOfLife | undefined,
  before: 'began' | 'counted' = 'began',
): Ended | undefined {
  if (ended === undefined) return undefined;
  const { kind, what, ...why } = ends[ended];
  return { type: 'ended', ending: failure(kind, { ...why, message: `${what} before \`${name}\` ${before}.` }) };
}

const limits = { deadline: "the run's deadline", budget: 'the time budget' };

/** The ending of a call whose tool did not return a success. */
export function readFailure(invoked: Invoked, { tool }: CompiledTool, preparing = false): Ending {
  switch (invoked.type) {
    case 'threw': {
      const { thrown } = invoked;
      const kind = tool.prepares && (preparing || tool.effects !== 'external') && denies(thrown) ? 'denied' : 'failed';
      return failure(kind, toProblem(thrown, { code: 'tool.threw' }), { thrown });
    }
    case 'stopped': {
      const { by, limitMs, abandoned } = invoked;
      if (by === 'aborted') {
        const message = `\`${tool.name}\` was cancelled.`;
        return failure('cancelled', { code: 'call.aborted', message }, { abandoned });
      }
      const limit = by === 'deadline' || by === 'budget' ? limits[by] : `its limit of ${limitMs} ms`;
      const why =
        by === 'budget'
          ? { code: 'budget.used', reason: 'time' }
          : { code: by === 'attempt' ? 'call.timeout' : `call.${by}` };
      return failure(
        'timed-out',
        { ...why, message: `\`${tool.name}\` did not finish within ${limit}.` },
        { abandoned },
      );
    }
    case 'returned': {
      const { value, message, code, reason } = invoked.value as Record<
        'value' | 'message' | 'code' | 'reason',
        unknown
      >;
      const payload = copyJson(value);
      if (payload.ok) {
        const kind = { code: toText(code) ?? 'tool.failed', reason: toText(reason) };
        return failure('failed', { ...kind, message: String(message) }, { value: payload.value });
      }
      const problem = `\`${tool.name}\` failed with a payload that is not JSON: ${payload.problem}.`;
      return failure('invalid', { code: 'output.invalid', reason: 'not_json', message: problem });
    }
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** True for an error by which a preparing tool says that the call must not be made. */
function denies(thrown: unknown): boolean {
  try {
    return isHoldfastError(thrown) && isPlainObject(thrown.data) && thrown.data['denies'] === true;
  } catch {
    // A getter that throws.
    return false;
  }
}

/** Adds the number of attempts to the message, for the model. */
export function afterAttempts(ending: Ending, attempts: number): Ending {
  const { kind, code = '', reason, message, value } = ending;
  if (kind === 'ok') return ending;
  return failure(kind, { code, reason, message: `Tried ${attempts} times. ${message}` }, { value });
}

/** True if the tool did not report its own result: it was stopped, its result is unreadable, or its process has ended. */
function gaveNoWord({ kind, code }: Ending): boolean {
  if (kind === 'timed-out' || kind === 'cancelled' || kind === 'invalid') return true;
  return code?.startsWith('tool.process.') === true && code !== 'tool.process.not_started';
}

/**
 * Turns the ending into `in-doubt` if an external tool reported no result, or its success could not be committed: it may have taken
 * effect. Not if the tool had not begun or may be repeated.
 */
export function withDoubt(
  ending: Ending,
  tool: Tool,
  { succeeded = false, preparing = false }: { readonly succeeded?: boolean; readonly preparing?: boolean },
): Ending {
  if (tool.effects !== 'external' || tool.repeat === 'safe') return ending;
  if (!succeeded && !gaveNoWord(ending)) return ending;
  // A tool that has returned something unusable has begun, even if it did not call `begin`.
  if (preparing && !succeeded && ending.kind !== 'invalid') return ending;
  // The advice comes first because a long reason is cut at its end.
  const message = `It is not known whether \`${tool.name}\` took effect. Find out before calling it again. ${ending.message}`;
  return {
    ...ending,
    ...failure('in-doubt', { code: ending.code ?? 'call.in_doubt', reason: ending.reason, message }),
    ...(ending.error ? { error: ending.error } : {}),
  };
}

/** The ending of a call of `tool` whose success could not be committed. */
export function uncommitted(thrown: unknown, tool: Tool): Ending {
  return withDoubt(failure('failed', toProblem(thrown, { code: 'commit.failed' }), { thrown }), tool, {
    succeeded: true,
  });
}

/** A thrown value as observers see it; includes the `data` of a HoldfastError thrown by a model. */
export function toThrownError(thrown: unknown, own: Partial<Omit<ThrownError, 'stack'>> = {}): ThrownError {
  const { message = describeThrown(thrown) } = own;
  try {
    return thrown instanceof Error ? new Thrown(thrown, message, own) : { name: typeof thrown, ...own, message };
  } catch {
    // An Error with throwing properties, or a revoked proxy.
    return { name: 'Error', ...own, message };
  }
}

// Not an own property: formatting a stack is slower than the rest of the call, and the log, which takes own properties, omits it.
class Thrown implements ThrownError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly data?: Json;
  readonly #error: Error;

  constructor(error: Error, message: string, { code, data }: Pick<ThrownError, 'code' | 'data'>) {
    this.name = String(error.name);
    this.message = message;
    if (code !== undefined) this.code = code;
    if (data !== undefined) this.data = data;
    this.#error = error;
    Object.freeze(this);
  }

  get stack(): string {
    return String(this.#error.stack);
  }
}

/** Registers the secrets in a returned result or value with `redactor`, before any of it is reported. */
export function learnReturned(redactor: Redactor | undefined, { output }: CompiledTool, returned: unknown): void {
  if (redactor === undefined || output === undefined) return;
  redactor.learnReturned(output.jsonSchema, returned);
}

/** Refused arguments of this many characters or more are not logged. */
export const maxRefusedChars = 65_536;

interface Omitted {
  readonly rawArguments: null;
  readonly omitted: OmittedArguments;
}

/** The replacement for long refused arguments in a record; `undefined` if they are short. */
export function omitArguments(raw: Json, redactor: Redactor | undefined): Omitted | undefined {
  // A copied value is within the limits for JSON from a model, so measuring it is cheap.
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  if (text.length <= maxRefusedChars) return undefined;
  // An unkeyed digest would let readers guess a secret; only a redactor has a key.
  const digest = redactor === undefined ? sha256(text) : redactor.digest?.(text);
  return {
    rawArguments: null,
    omitted: digest === undefined ? { length: text.length } : { length: text.length, digest },
  };
}

/** Why a call cannot be resumed: its record no longer has the arguments. */
export function findOmitted(omitted: unknown): Problem | undefined {
  if (!isPlainObject(omitted)) return undefined;
  const message = `The arguments are not available: they were refused, and of their ${String(omitted['length'])} characters the log keeps only the digest.`;
  return { code: 'arguments.invalid', reason: 'too_large', message };
}

/** Texts up to this length may appear twice in a record: leaving them out would be slower. */
export const shortText = 200;

/** The outcome as logged, without long texts that can be derived. */
export function toRecorded(
  { kind, callId, name, code, reason, message, value, text, attempts }: Outcome,
  ending: Ending,
  maxResultChars: number,
): RecordedOutcome {
  const ok = kind === 'ok';
  return {
    kind,
    callId,
    name,
    code,
    reason,
    message,
    value,
    ...(ok && ending.ownRendering === true ? { rendered: ending.rendered } : {}),
    ...(ok && ending.excluded === true ? { excluded: true } : {}),
    ...(text.length < ending.text.length ? { maxResultChars } : {}),
    attempts,
  };
}

/** The `writes` of an end event. */
export function toWrites(touched: ReadonlyMap<string, Touched>): ToolCallEndEvent['writes'] {
  return [...touched].flatMap(([resource, { writes }]) =>
    writes
      .filter(({ before, after }) => before !== after)
      .map(({ key, before, after }) => ({
        resource,
        key,
        change: before === null ? 'created' : after === null ? 'removed' : 'changed',
      })),
  );
}
