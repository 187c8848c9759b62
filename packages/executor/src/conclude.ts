import { describeThrown, readExpansion, type ToolCallEndEvent } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { type Attempts, attemptAgain, attemptsOf } from './attempts.ts';
import type { CallScope } from './call-scope.ts';
import type { Enterable } from './conduct-call.ts';
import { failure, thrownCode } from './ending.ts';
import type { Invoked } from './invoke.ts';
import { isNested } from './is-nested.ts';
import { noteMove } from './policy-moves.ts';
import { recordEnd } from './record-end.ts';
import { endReserved, reservedBy, stageReserved } from './reservations.ts';
import { discardResources, type Entered, refuse, settle } from './settle.ts';
import { toEndEvent, toLogEntry } from './trail.ts';

/**
 * Ends a call by what its tool did, or opens the sections that it needs, after further attempts where the tool failed and may be run
 * again. Answers with the end event, which is in the log.
 */
export function conclude(invoked: Invoked, entered: Enterable): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  const { tool, scope } = entered;
  const plain = tool.retry === undefined && scope.manner === undefined;
  const attempts = plain ? undefined : attemptsOf(entered);
  return attempts === undefined ? concludeAttempt(invoked, entered) : concludeLast(invoked, entered, attempts);
}

async function concludeLast(invoked: Invoked, entered: Enterable, attempts: Attempts): Promise<ToolCallEndEvent> {
  const last = await attemptAgain(invoked, entered, attempts);
  if (last.type === 'ended') return recordEnd(entered.trail, last.ending, entered.scope);
  return await concludeAttempt(last.invoked, last.entered);
}

function concludeAttempt(invoked: Invoked, entered: Entered): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  const expansion = invoked.type === 'threw' ? readExpansion(invoked.thrown) : undefined;
  const { scope, trail } = entered;
  // What is nested would open sections for a call that may yet fail; and one that was begun before its process ended may have done
  // something then, so it is in doubt like any that does not succeed.
  if (expansion === undefined || isNested(scope) || trail.begunBefore || scope.prompt?.expand === undefined)
    return settle(invoked, entered);
  return expand(expansion.keys, entered);
}

/** The tool has done nothing that counts, so no policy hears of a success. */
async function expand(keys: readonly string[], entered: Entered): Promise<ToolCallEndEvent> {
  const { scope, trail, resources } = entered;
  resources.seal();
  entered.transaction.discard();
  const opening = scope.state.begin();
  try {
    const text = open(keys, opening, entered);
    const opened = { kind: 'ok', code: undefined, message: text, value: null, rendered: '', text } as const;
    const ending = await discardResources(opened, resources);
    await resources.dispose();
    const { reservations } = resources;
    if (ending.kind !== 'ok') return recordEnd(trail, ending, scope, reservations);
    // Of what it has called before it found that out, nothing else is kept.
    const called = reservations && reservedBy(reservations, trail.call.id, 'failed');
    const misfit = called && stageReserved(called, opening);
    if (misfit !== undefined) throw misfit.thrown;
    const { events, changes } = opening;
    const event = toEndEvent(trail, ending, scope, { events, changes, touched: new Map(), mark: undefined });
    opening.commit(toLogEntry(event, ending, scope));
    if (event.changes !== undefined) noteMove(scope);
    if (reservations !== undefined) endReserved(reservations, scope);
    return event;
  } catch (thrown) {
    const problem = { code: thrownCode(thrown, 'section.unknown'), message: describeThrown(thrown) };
    return await refuse(failure('failed', problem, { thrown }), entered);
  } finally {
    opening.discard();
  }
}

/** @throws what `expand` of the prompt throws. */
function open(keys: readonly string[], opening: SessionTransaction, { scope, call }: Entered): string {
  try {
    return scope.prompt?.expand?.(keys, opening) ?? '';
  } catch (thrown) {
    // Opened by a call before this one: the tool saw the prompt as it was before that, and was right to ask.
    if (thrownCode(thrown, '') !== 'section.open' || !hasChanged(scope)) throw thrown;
    return `What \`${call.tool.name}\` needs has been opened in the meantime: call it again.`;
  }
}

/** Whether the prompt shows something else by now than the model was given. */
function hasChanged({ prompt, renderedPrompt, session }: CallScope): boolean {
  // Not whether it is the same object: a prompt that another session renders in between makes a new one.
  return prompt !== undefined && prompt.render({ session }).text !== renderedPrompt?.text;
}
