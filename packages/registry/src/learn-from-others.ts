import {
  copyJson,
  isOperation,
  isPlainObject,
  type Operation,
  type Policy,
  type PolicyStateDefinition,
} from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';

/**
 * What a policy makes of a call that is not its business; nothing where that would fail the call: it throws, answers late, or with what
 * its state cannot hold.
 */
export function learnFromOthers({ state }: Policy, learn: () => unknown): unknown {
  try {
    const answer = learn();
    if (isThenable(answer)) {
      // Nobody waits for it: what it comes to must not end the process.
      void Promise.allSettled([Promise.resolve(answer)]);
      return undefined;
    }
    return state !== undefined && fits(state, answer) ? answer : undefined;
  } catch {
    // How a policy refuses a call after all. Its own calls it still refuses so.
    return undefined;
  }
}

function isThenable(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'then' in answer;
}

/** Whether the session would take it, as the runtime hands it on. */
function fits(state: PolicyStateDefinition, answer: unknown): boolean {
  if (isOperation(answer)) return fitsOperation(state, answer);
  const isList = Array.isArray(answer) && answer.every(isOperation) && (answer.length > 0 || state.kind !== 'value');
  // What is no operation is the whole next state.
  return isList ? answer.every((one) => fitsOperation(state, one)) : fitsWhole(state, answer);
}

function fitsOperation(state: PolicyStateDefinition, operation: Operation): boolean {
  switch (operation.op) {
    case 'clear':
      return true;
    case 'append':
      return state.kind === 'list' && operation.items.every((item) => fitsItem(state, item));
    case 'upsert':
      return state.kind === 'keyed' && typeof operation.key === 'string' && fitsItem(state, operation.item);
    case 'remove':
      return state.kind === 'keyed' && typeof operation.key === 'string';
    case 'replace':
      return fitsWhole(state, operation.value);
    default:
      // Of a later version of Holdfast.
      return false;
  }
}

function fitsWhole(state: PolicyStateDefinition, value: unknown): boolean {
  switch (state.kind) {
    case 'value':
      return fitsItem(state, value);
    case 'list':
      return Array.isArray(value) && value.every((item) => fitsItem(state, item));
    case 'keyed':
      return isPlainObject(value) && Object.values(value).every((item) => fitsItem(state, item));
    default:
      return state.kind satisfies never;
  }
}

function fitsItem({ schema }: PolicyStateDefinition, item: unknown): boolean {
  const copied = copyJson(item);
  if (!copied.ok) return false;
  if (schema === undefined) return true;
  const validation = compileSchema(schema).validate(copied.value);
  return validation.ok && copyJson(validation.value).ok;
}
