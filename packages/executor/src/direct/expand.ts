import { describeThrown, readExpansion, type ToolCallEndEvent } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { failure, thrownCode } from '../call/ending.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { recordEnd, toEndEvent, toLogEntry } from '../call/settle.ts';
import type { Invoked } from '../call/types.ts';
import { endReserved, reservedBy, stageReserved } from '../nested/reservations.ts';
import { discardResources, disposeResources, refuse } from '../resources/staged.ts';

/** Opens the sections that a tool needs and ends its call. `undefined`: it threw something else, or nothing can be opened for it. */
export function expand(invoked: Invoked, call: RunningCall): Promise<ToolCallEndEvent> | undefined {
  const expansion = invoked.type === 'threw' ? readExpansion(invoked.thrown) : undefined;
  // What is nested would open sections for a call that may yet fail; and one that was begun before its process ended may have done
  // something then, so it is in doubt like any that does not succeed.
  const { scope } = call;
  if (expansion === undefined || scope.nested || call.begunBefore || scope.prompt?.expand === undefined)
    return undefined;
  return openSections(expansion.keys, call);
}

/** The tool has done nothing that counts, so no policy hears of a success. */
async function openSections(keys: readonly string[], call: RunningCall): Promise<ToolCallEndEvent> {
  const { scope } = call;
  call.seal();
  call.written?.discard();
  const opening = scope.state.begin();
  try {
    const text = open(keys, opening, call);
    const opened = { kind: 'ok', code: undefined, message: text, value: null, rendered: '', text } as const;
    const ending = await discardResources(opened, call);
    await disposeResources(call);
    const { reservations } = call;
    if (ending.kind !== 'ok') return recordEnd(ending, call);
    // Of what it has called before it found that out, nothing else is kept.
    const called = reservations && reservedBy(reservations, call.source.id, 'failed');
    const misfit = called && stageReserved(called, opening);
    if (misfit !== undefined) throw misfit.thrown;
    const { events, changes } = opening;
    const event = toEndEvent(ending, call, { events, changes, touched: new Map(), mark: undefined });
    opening.commit(toLogEntry(event, ending, call));
    if (event.changes !== undefined && !scope.nested) scope.moves.count += 1;
    endReserved(call);
    return event;
  } catch (thrown) {
    const problem = { code: thrownCode(thrown, 'section.unknown'), message: describeThrown(thrown) };
    return await refuse(failure('failed', problem, { thrown }), call);
  } finally {
    opening.discard();
  }
}

/** @throws what `expand` of the prompt throws. */
function open(keys: readonly string[], opening: SessionTransaction, { scope, call }: RunningCall): string {
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
