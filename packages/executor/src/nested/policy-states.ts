import { HoldfastError } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import type { Touched } from '@holdfast/core/types';
import { isThenable, waitForAnswer } from '../call/execute.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { Ending } from '../call/types.ts';
import { ownTouched } from './calls.ts';

const nothingTouched: ReadonlyMap<string, Touched> = new ReadOnlyMap();

/** Stages the policies' states after a success. `all`: what the call read and wrote in resources, if anything. */
export function updatePolicies(
  { value, message }: Ending,
  call: RunningCall,
  all: ReadonlyMap<string, Touched> | undefined,
): void {
  const { scope } = call;
  const touched = all === undefined ? nothingTouched : ownTouched(call, all);
  // Shared and frozen, so that no policy can change what the next one sees.
  const result = Object.freeze({ value, message, touched });
  for (const bound of scope.observers) {
    const answer: unknown = bound.policy.onResult?.(call.call, result, bound.context(call.state, scope.surroundings));
    if (answer === undefined) continue;
    if (typeof answer === 'object' && isThenable(answer)) throw lateAnswer(bound.key, answer);
    if (bound.slice !== undefined) call.transaction.apply(bound.slice, bound.toOperations(answer));
  }
}

function lateAnswer(key: string, value: PromiseLike<unknown>): HoldfastError {
  // Handled here: an unhandled rejection would end the process.
  void waitForAnswer(value);
  const message = `\`onResult\` of the policy \`${key}\` returned a promise; it must be synchronous.`;
  return new HoldfastError('policy.invalid', message, { data: { reason: 'result.async' } });
}
