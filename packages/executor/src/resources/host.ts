import type { ToolCallEndEvent } from '@holdfast/core';
import type { Touched } from '@holdfast/core/types';
import type { Session } from '@holdfast/session';
import type { RunningCall } from '../call/running-call.ts';

/** Prepared changes, as another machine needs to know them. */
export interface PreparedChanges {
  readonly mark: string;
  readonly touched: ReadonlyMap<string, Touched>;
  /** Names of the resources that keep prepared changes beyond their process. */
  readonly lasting: ReadonlySet<string>;
}

/** Notes, in a log that machines share, which changes only this one has. Before the end record, which makes them count. */
export function noteStaged({ scope, call, turn }: RunningCall, { mark, touched, lasting }: PreparedChanges): void {
  const { session, run } = scope;
  const { host } = session;
  const resources = [...lasting].filter((name) => (touched.get(name)?.writes.length ?? 0) > 0);
  if (host === undefined || resources.length === 0) return;
  const place = run === undefined ? {} : { run: run.startSeq, ...(turn !== undefined && { turn }) };
  session.record({ type: 'resources-staged', callId: call.id, ...place, mark, host, resources });
}

/** Notes that the changes of an ended call are applied. */
export function noteSettled({ scope: { session } }: RunningCall, { mark }: ToolCallEndEvent): void {
  const staged = mark === undefined ? undefined : session.openWork().staged?.find((each) => each.mark === mark);
  if (staged === undefined) return;
  try {
    session.record({ type: 'resources-settled', mark: staged.mark, resources: staged.resources });
  } catch {
    // The call has succeeded; the next write reports the broken log, and the next recovery on this machine settles the changes again.
  }
}

/** Notes that this machine has recovered a resource: what an ended process of it had staged there is applied. */
export function noteRecovered(session: Session, resource: string, failed: ReadonlySet<string>): void {
  for (const { mark, host, resources, interrupted } of session.openWork().staged ?? []) {
    if (!interrupted || host !== session.host || failed.has(mark) || !resources.includes(resource)) continue;
    session.record({ type: 'resources-settled', mark, resources: [resource] });
  }
}
