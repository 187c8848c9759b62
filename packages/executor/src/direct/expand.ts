import type { ToolCallEndEvent } from '@holdfast/core';
import { toProblem } from '@holdfast/core/internal';
import type { SectionOpening } from '@holdfast/core/types';
import { failure } from '../call/ending.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { recordEnd, toEndEvent, toLogEntry } from '../call/settle.ts';
import type { Invoked } from '../call/types.ts';
import { endReserved, reservedWithin, stageReserved } from '../nested/reservations.ts';
import { discardResources, disposeResources, refuse } from '../resources/staged.ts';

/** Opens the sections that a tool asked for and ends its call. `undefined`: it threw something else, or nothing can be opened. */
export function expand(invoked: Invoked, call: RunningCall): Promise<ToolCallEndEvent> | undefined {
  // A nested call would open sections for an outer call that may still fail. A call that began before its process ended is in doubt.
  if (invoked.type !== 'threw' || call.scope.nested || call.begunBefore) return undefined;
  const opening = openingOf(invoked.thrown, call.scope);
  return opening && openSections(opening, call);
}

/** Errors thrown here must fail the call. */
function openingOf(thrown: unknown, { prompt }: CallScope): SectionOpening | undefined {
  try {
    return prompt?.opening?.(thrown);
  } catch (problem) {
    return () => {
      throw problem;
    };
  }
}

/** The tool has done nothing that counts, so policies see no success. */
async function openSections(open: SectionOpening, call: RunningCall): Promise<ToolCallEndEvent> {
  const { scope } = call;
  call.seal();
  call.written?.discard();
  const opening = scope.state.begin();
  const { tool } = call.call;
  try {
    const text = open({ toolName: tool.name, session: opening, shown: scope.renderedPrompt });
    const opened = { kind: 'ok', code: undefined, message: text, value: null, rendered: '', text } as const;
    const ending = await discardResources(opened, call);
    await disposeResources(call);
    const { reservations } = call;
    if (ending.kind !== 'ok') return recordEnd(ending, call);
    // Only reservations of its nested calls are kept.
    const called = reservations && reservedWithin(reservations, call.source.id);
    const misfit = called && stageReserved(called, opening);
    if (misfit !== undefined) throw misfit.thrown;
    const { events, changes } = opening;
    const event = toEndEvent(ending, call, { events, changes, touched: new Map(), mark: undefined });
    opening.commit(toLogEntry(event, ending, call));
    if (event.changes !== undefined && !scope.nested) scope.moves.count += 1;
    endReserved(call);
    return event;
  } catch (thrown) {
    return await refuse(
      failure('failed', toProblem(thrown, { code: 'section.unavailable', reason: 'unknown' }), { thrown }),
      call,
    );
  } finally {
    opening.discard();
  }
}
