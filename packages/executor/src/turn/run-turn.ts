import type { Message, Outcome, ToolCall } from '@holdfast/core';
import { identifyCall } from '../call/prepare.ts';
import { runCall } from '../call/run-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { IdentifiedCall, Suspended, TurnOptions, TurnResult } from '../call/types.ts';

/**
 * Runs the calls of one message: each is decided on the state after the one before it, and they commit in order, but read-only calls
 * run in parallel. The first unapproved call suspends the turn; later calls are validated but not run, so all questions come at once.
 */
export function runTurn(
  calls: readonly IdentifiedCall[],
  scope: CallScope,
  options: TurnOptions = {},
): Promise<TurnResult> {
  const [only] = calls;
  const alone = only !== undefined && calls.length === 1;
  return alone ? runOnly(only, scope, options) : scope.features.runCalls(calls, scope, options);
}

function runOnly(call: IdentifiedCall, scope: CallScope, { refusal, settled }: TurnOptions): Promise<TurnResult> {
  const known = settled?.get(0);
  if (known !== undefined) return Promise.resolve(toTurnResult(known));
  return runCall(call, scope, { refusal: refusal?.(call) }).then(toTurnResult);
}

function toTurnResult(result: Outcome | Suspended): TurnResult {
  return result.kind === 'suspended' ? { outcomes: [], pending: result.pending } : { outcomes: [result], pending: [] };
}

/** Gives every call an id unique in its turn; keeps the provider's. */
export function identify(calls: readonly ToolCall[], turn: number): IdentifiedCall[] {
  return calls.map((call, index) =>
    identifyCall(call, () => {
      let made = `call_${turn}_${index}`;
      while (calls.some(({ id }) => id === made)) made += '_';
      return made;
    }),
  );
}

/** The tool message that reports the outcome of a call. */
export function toToolMessage({ callId, name, kind, text }: Outcome): Message {
  return { role: 'tool', callId, name, success: kind === 'ok', text };
}
