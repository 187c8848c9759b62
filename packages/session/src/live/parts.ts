import type { Clock } from '@holdfast/core';
import type { SessionStore } from '../log/log.ts';
import type { OpenWorkLedger } from '../log/open-work.ts';
import type { SliceTable } from '../state/table.ts';
import type { SessionOptions } from './session.ts';
import type { ForkOrigin } from './snapshot.ts';

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
