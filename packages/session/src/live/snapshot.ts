import { type Clock, HoldfastError, type Json } from '@holdfast/core';
import type { LogEntry, SessionStore } from '../log/log.ts';
import type { OpenWorkLedger } from '../log/open-work.ts';
import type { SliceState } from '../state/slice.ts';
import type { SliceTable } from '../state/table.ts';
import { toExportedSlice } from './export.ts';
import type { SessionOptions, SessionSnapshot } from './session.ts';

/** The origin of a fork, as its log has it. */
export type ForkOrigin = { readonly sessionId: Json; readonly seq: Json };

/** The parts of a new or rebuilt session. */
export interface SessionParts extends Pick<SessionOptions, 'redactor' | 'vault' | 'content'> {
  readonly id: string;
  readonly nonce: string;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly table: SliceTable;
  readonly seq: number;
  readonly forkedFrom?: ForkOrigin | undefined;
  readonly openWork?: OpenWorkLedger;
  readonly snapshotSeq?: number;
}

/** The record that holds the full state, from which a session is replayed without earlier records. */
export function toSnapshotEntry(
  { id, nonce, forkedFrom, table }: Pick<SessionParts, 'id' | 'nonce' | 'forkedFrom' | 'table'>,
  openWork: OpenWorkLedger,
): LogEntry {
  return {
    type: 'snapshot',
    sessionId: id,
    ...(nonce === '' ? {} : { nonce }),
    ...(forkedFrom && { forkedFrom }),
    // In registration order, which is the order in which slices handle events.
    slices: table.slices.map((slice) => toExportedSlice(slice, table.stateOf(slice))),
    open: openWork.toJson(),
  };
}

/** The restored slices with their states, for a log that is replayed from a later point. */
export function toRestoredSlices(states: ReadonlyMap<string, SliceState>, table: SliceTable): Json {
  return table.slices.flatMap((slice) => {
    const state = states.get(slice.id);
    return state === undefined || slice.retention !== 'state' ? [] : [toExportedSlice(slice, state)];
  });
}

/** @throws HoldfastError `session.invalid`, `slice.invalid`. */
export function checkRestorable(
  { sessionId, states }: Pick<SessionSnapshot, 'sessionId' | 'states'>,
  id: string,
  table: SliceTable,
): void {
  if (sessionId !== id) {
    throw new HoldfastError(
      'session.invalid',
      `A snapshot of session \`${sessionId}\` cannot be restored into \`${id}\`.`,
      { data: { reason: 'snapshot.foreign' } },
    );
  }
  const unknown = [...states.keys()].find((slice) => table.get(slice) === undefined);
  if (unknown === undefined) return;
  throw new HoldfastError(
    'slice.invalid',
    `The snapshot has the slice \`${unknown}\`, which this session does not have.`,
    { data: { reason: 'unknown' } },
  );
}
