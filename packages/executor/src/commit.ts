import {
  describeThrown,
  HoldfastError,
  type Json,
  ReadOnlyMap,
  type Tool,
  type ToolCallEndEvent,
  type Touched,
} from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import { decideAgain, isOvertaken, statefulFor } from './decide-again.ts';
import { type Ending, failure, thrownCode, withDoubt } from './ending.ts';
import { isThenable, waitForAnswer } from './invoke.ts';
import { isNested } from './is-nested.ts';
import { freezeTouched } from './own-touched.ts';
import { noteMove, takeTurn } from './policy-moves.ts';
import { endReserved } from './reservations.ts';
import type { Entered } from './settle.ts';
import { toEndEvent, toLogEntry } from './trail.ts';

/** What the resources of a call are ready to apply. */
export interface PreparedResources {
  readonly touched: ReadonlyMap<string, Touched>;
  /** By which `recover` is asked for it. */
  readonly mark: string | undefined;
}

export const nothingPrepared: PreparedResources = { touched: new ReadOnlyMap(), mark: undefined };

/**
 * Ends a call that has succeeded, on a decision that holds at that moment; or says why that could not be. Answers at once unless
 * other calls have come before it and policies need time.
 */
export function commit(
  answer: Ending,
  entered: Entered,
  prepared: PreparedResources,
): ToolCallEndEvent | Ending | Promise<ToolCallEndEvent | Ending> {
  return isOvertaken(entered) ? commitOvertaken(answer, entered, prepared) : commitDecided(answer, entered, prepared);
}

async function commitOvertaken(
  answer: Ending,
  entered: Entered,
  prepared: PreparedResources,
): Promise<ToolCallEndEvent | Ending> {
  const { moves } = entered.scope;
  let leave: (() => void) | undefined;
  try {
    while (isOvertaken(entered)) {
      const deciding = decideAgain(entered);
      const refusal = deciding instanceof Promise ? await deciding : deciding;
      if (refusal !== undefined) return refusal;
      // Overtaken while policies took their time: from now on one after another, or each would have to ask as often as there are others.
      if (leave === undefined && isOvertaken(entered)) leave = await takeTurn(moves);
    }
    // Nothing may come in between.
    return commitDecided(answer, entered, prepared);
  } finally {
    leave?.();
  }
}

/** Stages the policies' states and writes the commit record; or says why that could not be. */
function commitDecided(
  ending: Ending,
  { scope, trail, call, compiled, transaction, resources }: Entered,
  { touched, mark }: PreparedResources,
): ToolCallEndEvent | Ending {
  try {
    if (resources.brokenBy !== undefined) throw resources.brokenBy.thrown;
    const { length } = transaction.changes;
    updatePolicies(ending, resources.ownTouched(touched), { scope, call, transaction });
    const event = toEndEvent(trail, ending, scope, {
      events: transaction.events,
      changes: transaction.changes,
      touched,
      mark,
    });
    transaction.commit(toLogEntry(event, ending, scope));
    if (isNested(scope)) noteDecision({ scope, trail, call, resources }, transaction.changes.slice(length));
    else if (mayMove(scope, event)) noteMove(scope);
    if (resources.reservations !== undefined) endReserved(resources.reservations, scope);
    return event;
  } catch (thrown) {
    return uncommitted(thrown, compiled.tool);
  }
}

function mayMove({ observers, moves }: CallScope, { changes, events }: ToolCallEndEvent): boolean {
  return observers.length > 0 || changes !== undefined || (moves.looked && events.length > 0);
}

/** It counts with the call around it, and may have to be decided again then. */
function noteDecision(
  { scope, trail, call, resources }: Pick<Entered, 'scope' | 'trail' | 'call' | 'resources'>,
  changes: readonly Json[],
): void {
  const { parent } = scope;
  const { nestedDecisions: nested = [] } = resources;
  if (parent === undefined || (nested.length === 0 && statefulFor(call, scope).length === 0)) return;
  parent.nestedDecisions ??= [];
  parent.nestedDecisions.push({ call, scope, approved: trail.approved, nested, changes });
}

function updatePolicies(
  { value, message }: Ending,
  touched: ReadonlyMap<string, Touched>,
  { scope, call, transaction }: Pick<Entered, 'scope' | 'call' | 'transaction'>,
): void {
  if (scope.observers.length === 0) return;
  // One for all: none can change what the next one sees.
  const result = Object.freeze({ value, message, touched: freezeTouched(touched) });
  for (const bound of scope.observers) {
    const answer: unknown = bound.policy.onResult?.(call, result, bound.context(transaction, scope.surroundings));
    if (answer === undefined) continue;
    if (isThenable(answer)) throw lateAnswer(bound.key, answer);
    if (bound.slice !== undefined) transaction.apply(bound.slice, bound.toOperations(answer));
  }
}

function lateAnswer(key: string, value: PromiseLike<unknown>): HoldfastError {
  // Its rejection, which nobody will hear, must not end the process.
  void waitForAnswer({ type: 'unstoppable', value });
  return new HoldfastError(
    'policy.result.async',
    `\`onResult\` of the policy \`${key}\` answered with a promise; it has to answer at once.`,
  );
}

export function uncommitted(thrown: unknown, tool: Tool): Ending {
  const problem = { code: thrownCode(thrown, 'commit.failed'), message: describeThrown(thrown) };
  return withDoubt(failure('failed', problem, { thrown }), tool, { succeeded: true });
}
