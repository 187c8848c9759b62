import { HoldfastError, type Json } from '@holdfast/core';
import type { LogEntry } from '../log/log.ts';
import type { OpenWorkLedger } from '../log/open-work.ts';
import type { SliceState } from '../state/slice.ts';
import type { SliceTable } from '../state/table.ts';
import { toExportedSlice } from './export.ts';
import type { SessionSnapshot } from './session.ts';

/** The origin of a fork, as its log has it. */
export type ForkOrigin = { readonly sessionId: Json; readonly seq: Json };

export interface SnapshotParts {
  readonly id: string;
  readonly nonce: string;
  readonly forkedFrom: ForkOrigin | undefined;
  readonly table: SliceTable;
  readonly openWork: OpenWorkLedger;
}

/** The record that holds the full state, from which a session is replayed without earlier records. */
export function toSnapshotEntry({ id, nonce, forkedFrom, table, openWork }: SnapshotParts): LogEntry {
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
