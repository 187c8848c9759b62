import { HoldfastError, type Json } from '@holdfast/core';
import type { LogEntry } from '../log/log.ts';
import type { OpenWorkLedger } from '../log/open-work.ts';
import type { SliceState } from '../state/slice.ts';
import type { SliceTable } from '../state/table.ts';
import { toExportedSlice } from './export.ts';
import type { SessionSnapshot } from './session.ts';

/** What a log says of the session that it was forked from. */
export type ForkOrigin = { readonly sessionId: Json; readonly seq: Json };

export interface SnapshotParts {
  readonly id: string;
  readonly nonce: string;
  readonly forkedFrom: ForkOrigin | undefined;
  readonly table: SliceTable;
  readonly openWork: OpenWorkLedger;
}

/** The record from which a session is replayed without those before it: all that they have made. */
export function toSnapshotEntry({ id, nonce, forkedFrom, table, openWork }: SnapshotParts): LogEntry {
  return {
    type: 'snapshot',
    sessionId: id,
    ...(nonce === '' ? {} : { nonce }),
    ...(forkedFrom && { forkedFrom }),
    // In the order in which the session met them: that is the order in which they answer events.
    slices: table.slices.map((slice) => toExportedSlice(slice, table.stateOf(slice))),
    open: openWork.toJson(),
  };
}

/** The slices that a `restore` puts back, with their states, for a log that is not replayed from where they can be made again. */
export function toRestoredSlices(states: ReadonlyMap<string, SliceState>, table: SliceTable): Json {
  return table.slices.flatMap((slice) => {
    const state = states.get(slice.id);
    return state === undefined || slice.retention !== 'state' ? [] : [toExportedSlice(slice, state)];
  });
}

/** @throws HoldfastError `snapshot.foreign`, `slice.unknown`. */
export function checkRestorable(
  { sessionId, states }: Pick<SessionSnapshot, 'sessionId' | 'states'>,
  id: string,
  table: SliceTable,
): void {
  if (sessionId !== id) {
    throw new HoldfastError(
      'snapshot.foreign',
      `A snapshot of session \`${sessionId}\` cannot be restored into \`${id}\`.`,
    );
  }
  const unknown = [...states.keys()].find((slice) => table.get(slice) === undefined);
  if (unknown === undefined) return;
  throw new HoldfastError('slice.unknown', `The snapshot has the slice \`${unknown}\`, which this session never met.`);
}
