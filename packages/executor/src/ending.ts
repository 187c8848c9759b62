import {
  copyJson,
  describeThrown,
  isHoldfastError,
  isToolResult,
  type Json,
  type OutcomeKind,
  type PolicyDecision,
  type Problem,
  renderJson,
  renderPlainly,
  type ThrownError,
  type Tool,
  toOutcomeText,
} from '@holdfast/core';
import { describeIssues } from '@holdfast/schema';
import type { Invoked } from './invoke.ts';
import { forModel } from './model-text.ts';
import { renderValue } from './render-value.ts';
import type { CompiledTool } from './toolset.ts';

/** How a call ends, before it is written down. */
export interface Ending {
  readonly kind: OutcomeKind;
  readonly code: string | undefined;
  readonly message: string;
  readonly value: Json;
  readonly rendered: string;
  /** Whole. */
  readonly text: string;
  /** Of a success: the value is not in the text; and the tool itself has made `rendered` of it. */
  readonly excluded?: boolean;
  readonly ownRendering?: boolean;
  /** For observers and the log. */
  readonly error?: ThrownError;
  readonly abandoned?: boolean;
}

export interface FailureDetails {
  readonly thrown?: unknown;
  readonly value?: Json;
  readonly abandoned?: boolean;
}

/** An ending that is no success. */
export function failure(
  kind: Exclude<OutcomeKind, 'ok'>,
  { code, message }: Problem,
  details: FailureDetails = {},
): Ending {
  const { value = null, thrown, abandoned } = details;
  const rendered = renderPlainly(kind, value);
  const safe = forModel(message);
  return {
    kind,
    code,
    message: safe,
    value,
    rendered,
    text: toOutcomeText(kind, safe, rendered),
    ...(thrown === undefined ? {} : { error: toThrownError(thrown) }),
    ...(abandoned === true ? { abandoned } : {}),
  };
}

export function denied(decisions: readonly PolicyDecision[]): Ending {
  const reasons = decisions.filter(({ type }) => type === 'deny').map(({ reason = '' }) => reason);
  return failure('denied', { code: 'policy.denied', message: `Denied: ${reasons.join(' ')}` });
}

/** What the tool's own answer means: a success whose value has been checked, or why it is none. */
export function readAnswer(invoked: Invoked, compiled: CompiledTool): Ending {
  const { tool } = compiled;
  switch (invoked.type) {
    case 'threw':
      return failure(
        'failed',
        { code: thrownCode(invoked.thrown, 'tool.threw'), message: describeThrown(invoked.thrown) },
        { thrown: invoked.thrown },
      );
    case 'stopped': {
      const { by, limitMs, abandoned } = invoked;
      if (by === 'aborted')
        return failure(
          'cancelled',
          { code: 'call.aborted', message: `\`${tool.name}\` was cancelled.` },
          { abandoned },
        );
      const limit = by === 'deadline' || by === 'budget' ? limits[by] : `its limit of ${limitMs} ms`;
      const code = by === 'attempt' ? 'call.timeout' : `call.${by}`;
      return failure('timed-out', { code, message: `\`${tool.name}\` did not finish within ${limit}.` }, { abandoned });
    }
    case 'returned':
      try {
        return readReturned(invoked.value, compiled);
      } catch (thrown) {
        // A result whose properties throw when they are read.
        return failure(
          'invalid',
          { code: 'output.unreadable', message: `The result of \`${tool.name}\` cannot be read.` },
          { thrown },
        );
      }
  }
}

const limits = { deadline: "the run's deadline", budget: 'the time of the budget' };

function readReturned(returned: unknown, compiled: CompiledTool): Ending {
  const { tool } = compiled;
  if (!isToolResult(returned)) return readValue(returned, '', false, compiled);
  const { success, message, value, excludeValueFromContext, code } = returned;
  if (success) return readValue(value, String(message), excludeValueFromContext, compiled);
  const payload = copyJson(value);
  if (!payload.ok)
    return failure('invalid', {
      code: 'output.not_json',
      message: `\`${tool.name}\` failed with a payload that is not JSON: ${payload.problem}.`,
    });
  const known = typeof code === 'string' ? code : 'tool.failed';
  return failure('failed', { code: known, message: String(message) }, { value: payload.value });
}

function readValue(value: unknown, message: string, excluded: boolean, { tool, output }: CompiledTool): Ending {
  const copied = copyJson(value);
  if (value === undefined) {
    const message = `\`${tool.name}\` returned nothing. It has to return JSON: null when there is nothing to say.`;
    return failure('invalid', { code: 'output.undefined', message });
  }
  if (!copied.ok) {
    const message = `\`${tool.name}\` returned what is not JSON: ${copied.problem}.`;
    return failure('invalid', { code: 'output.not_json', message });
  }
  // The value stays what the tool returned: its type is what the schema validates to, so there is nothing left to convert.
  const validation = output?.validate(copied.value);
  if (validation?.ok === false) {
    // What schemas say of a value quotes it, which is for observers and the log. Where it was to stay hidden, so do its keys.
    const places = excluded ? [] : validation.issues.slice(0, 3).filter(({ path }) => path !== '');
    const where = places.length === 0 ? '' : ` at ${places.map(({ path }) => `\`${path.slice(0, 100)}\``).join(', ')}`;
    const refusal = `\`${tool.name}\` returned what its output schema refuses${where}`;
    const detail = new Error(`${refusal}: ${describeIssues(validation.issues)}`);
    return failure('invalid', { code: 'output.invalid', message: `${refusal}.` }, { thrown: detail });
  }
  let rendered: string;
  let error: ThrownError | undefined;
  let ownRendering = tool.renderResult !== undefined && copied.value !== null;
  try {
    rendered = renderValue(tool, copied.value);
  } catch (thrown) {
    // The tool has done its work: a mistake in how the result is shown does not make it a failure.
    rendered = renderJson(copied.value);
    ownRendering = false;
    const message = `\`renderResult\` of \`${tool.name}\` failed, so the value was sent as JSON: ${describeThrown(thrown)}`;
    error = { ...toThrownError(thrown), code: 'output.render_failed', message };
  }
  const text = toOutcomeText('ok', message, excluded ? '' : rendered);
  const { value: kept } = copied;
  const ending = { kind: 'ok', code: undefined, message, value: kept, rendered, text, excluded, ownRendering } as const;
  return error === undefined ? ending : { ...ending, error };
}

/** Whether the tool failed by its own word: it threw, or answered with `toolError`. */
export function saysFailed(invoked: Invoked): boolean {
  if (invoked.type !== 'returned') return invoked.type === 'threw';
  try {
    return isToolResult(invoked.value) && !invoked.value.success;
  } catch {
    // A result whose properties throw when they are read.
    return false;
  }
}

/** What is told of the `ending` of a call whose tool was run more than once, so that the model knows. */
export function afterAttempts(ending: Ending, attempts: number): Ending {
  const { kind, code = '', message, value } = ending;
  if (kind === 'ok') return ending;
  return failure(kind, { code, message: `Tried ${attempts} times. ${message}` }, { value });
}

/** Whether the tool itself has not said how its call went: it was stopped, its answer cannot be read, or its process has ended. */
function gaveNoWord({ kind, code }: Ending): boolean {
  if (kind === 'timed-out' || kind === 'cancelled' || kind === 'invalid') return true;
  return code?.startsWith('tool.process.') === true && code !== 'tool.process.not_started';
}

/**
 * A tool that touches the world and gave no word, or whose success could not be committed, may have taken effect:
 * unless it may be repeated or has not begun, that is what the model and the caller are told.
 */
export function withDoubt(
  ending: Ending,
  tool: Tool,
  { succeeded = false, preparing = false }: { readonly succeeded?: boolean; readonly preparing?: boolean },
): Ending {
  if (tool.effects !== 'external' || tool.repeat === 'safe') return ending;
  if (!succeeded && !gaveNoWord(ending)) return ending;
  // A tool that has returned something unusable has begun, even if it did not say so.
  if (preparing && !succeeded && ending.kind !== 'invalid') return ending;
  // What to do comes first: a long reason is cut at its end.
  const message = `It is not known whether \`${tool.name}\` took effect. Find out before calling it again. ${ending.message}`;
  return {
    ...ending,
    ...failure('in-doubt', { code: ending.code ?? 'call.in_doubt', message }),
    ...(ending.error ? { error: ending.error } : {}),
  };
}

/** The code that a HoldfastError carries, or `fallback` for anything else that was thrown. */
export function thrownCode(thrown: unknown, fallback: string): string {
  try {
    return isHoldfastError(thrown) ? thrown.code : fallback;
  } catch {
    // A `code` that is there at one look and throws at the next.
    return fallback;
  }
}

function toThrownError(thrown: unknown): ThrownError {
  try {
    const error = thrown instanceof Error ? thrown : undefined;
    const { name = typeof thrown, stack } = error ?? {};
    return { name: String(name), message: describeThrown(thrown), ...(typeof stack === 'string' ? { stack } : {}) };
  } catch {
    // An Error whose own properties throw; that is all that can be said of it.
    return { name: 'Error', message: describeThrown(thrown) };
  }
}
