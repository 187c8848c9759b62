import { describeThrown, type ToolCallEndEvent, type Touched } from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import { type Ending, failure } from './ending.ts';
import { noteMove } from './policy-moves.ts';
import { openScopeOf, passUp, type Reservations, reservedBy, stageReserved } from './reservations.ts';
import { type Trail, toEndEvent, toLogEntry } from './trail.ts';
import { leave } from './under-way.ts';

/**
 * Writes down how a call ended whose own changes do not count. Of `reservations` that is kept which may have happened nevertheless:
 * it is a part of the same record.
 */
export function recordEnd(
  trail: Trail,
  ending: Ending,
  scope: CallScope,
  reservations: Reservations | undefined = trail.reservations,
): ToolCallEndEvent {
  if (reservations === undefined) return recordPlain(trail, ending, scope);
  leave(scope.session, reservations);
  const reserved = reservedBy(reservations, trail.call.id, ending.kind);
  if (reserved.size === 0) return recordPlain(trail, ending, scope);
  const open = openScopeOf(scope);
  const transaction = open.state.begin();
  const misfit = stageReserved(reserved, transaction);
  if (misfit !== undefined) {
    transaction.discard();
    return recordPlain(trail, withMisfit(ending, misfit.thrown), scope);
  }
  const { events, changes } = transaction;
  const event = toEndEvent(trail, ending, scope, { events, changes, touched: nothingTouched, mark: undefined });
  transaction.commit(toLogEntry(event, ending, scope));
  noteMove(open);
  passUp(reserved, open);
  return event;
}

const nothingTouched: ReadonlyMap<string, Touched> = new Map();

function recordPlain(trail: Trail, ending: Ending, scope: CallScope): ToolCallEndEvent {
  const event = toEndEvent(trail, ending, scope);
  scope.session.record(toLogEntry(event, ending, scope));
  return event;
}

function withMisfit(ending: Ending, misfit: unknown): Ending {
  const { kind, code = 'policy.reserve_failed', message, value } = ending;
  const extended = `${message} What policies have reserved for it could not be kept: ${describeThrown(misfit)}`;
  return { ...ending, ...failure(kind === 'ok' ? 'failed' : kind, { code, message: extended }, { value }) };
}
