import { HoldfastError, type Operation, type SessionEvent, type Slice } from '@holdfast/core';
import { copyJson, isOperation } from '@holdfast/core/internal';
import { applyChange, checkOperation, muteRejection, type SliceState } from './slice.ts';

/** The event as logged. @throws HoldfastError `event.invalid`. */
export function copyEvent({ type, payload }: SessionEvent): SessionEvent {
  const copied = copyJson(payload);
  if (copied.ok) return { type, payload: copied.value };
  throw new HoldfastError('event.invalid', `The payload of \`${type}\` is not JSON: ${copied.problem}.`);
}

/** The state of `slice` after `event`. @throws the reducer's error, and as `checkOperation`. */
export function reduceEvent(slice: Slice, state: SliceState, { type, payload }: SessionEvent): SliceState {
  const answer: unknown = slice.reducers.get(type)?.(state, payload);
  if (answer === undefined) return state;
  if (isOperation(answer)) return applyChange(slice, state, checkOperation(slice, answer));
  return toOperations(slice, answer).reduce<SliceState>(
    (current, operation) => applyChange(slice, current, checkOperation(slice, operation)),
    state,
  );
}

function toOperations(slice: Slice, answer: unknown): readonly Operation[] {
  if (Array.isArray(answer) && answer.every(isOperation)) return answer;
  for (const misplaced of Array.isArray(answer) ? answer : [answer]) muteRejection(misplaced);
  throw new HoldfastError(
    'slice.invalid',
    `A reducer of \`${slice.id}\` must return operations (\`replace\`, \`append\`, …).`,
    { data: { reason: 'operation.invalid' } },
  );
}
