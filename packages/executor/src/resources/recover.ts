import type { StagedResource } from '@holdfast/core';
import { describeThrown, isStagedResource, within } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { type CallScope, type Kept, keptBeside } from '../call/scope.ts';
import { noteRecovered } from './host.ts';

interface Marking {
  /** Distinguishes this session object from another with the same id, whose log does not cover this one's calls. */
  readonly random: string;
  count: number;
}

const marking: Kept<Marking> = {
  make: () => ({
    random: Math.floor(Math.random() * 2 ** 52)
      .toString(16)
      .padStart(16, '0'),
    count: 0,
  }),
};

/** A mark for the changes of a call: if its process ends before applying them, the end record with this mark decides. */
export function markChanges(session: Session): string {
  const own = keptBeside(session, marking);
  own.count += 1;
  // The number of the record from which to search the log.
  return `${prefixOf(session)}${session.snapshot().seq}.${own.random}.${own.count}`;
}

function prefixOf({ id }: Session): string {
  return `${id}#`;
}

/** A change of staged resources that could not be completed or rolled back. */
export interface RecoveryFailure {
  readonly resource: string;
  readonly message: string;
}

const recovered: Kept<WeakMap<StagedResource, Recovery>> = { make: () => new WeakMap() };

interface Recovery {
  readonly failures: Promise<readonly RecoveryFailure[]>;
  settled: boolean;
}

/**
 * Completes committed changes of an ended process and rolls back the rest, in every resource that has any: once per session and
 * resource, before its first call. Failures are recorded and do not affect other resources. `undefined` if there is nothing to do.
 */
export function recoverResources({
  session,
  resources,
  parent,
  lifetime,
}: CallScope): Promise<readonly RecoveryFailure[]> | undefined {
  if (resources.size === 0 || parent !== undefined) return undefined;
  const waiting = new Set<string>();
  const recoveries: Promise<readonly RecoveryFailure[]>[] = [];
  for (const [name, resource] of resources) {
    const recovering = isStagedResource(resource) ? recoverResource(session, name, resource) : undefined;
    if (recovering === undefined) continue;
    waiting.add(name);
    recoveries.push(recovering.finally(() => waiting.delete(name)));
  }
  if (recoveries.length === 0) return undefined;
  // Waits for an unresponsive resource only as long as the time lasts; the call or run then ends with a timeout.
  return within(
    Promise.all(recoveries).then((lists) => lists.flat()),
    {
      until: lifetime,
      over: () => [...waiting].map((resource) => ({ resource, message: 'The resource did not answer in time.' })),
    },
  );
}

/** Like `recoverResources`, for one resource. */
export function recoverResource(
  session: Session,
  name: string,
  resource: StagedResource,
): Promise<readonly RecoveryFailure[]> | undefined {
  if (resource.unsettled === undefined) return undefined;
  const { failures, settled } = recoverOnce(session, name, resource);
  return settled ? undefined : failures;
}

function recoverOnce(session: Session, name: string, resource: StagedResource): Recovery {
  const known = keptBeside(session, recovered);
  let recovery = known.get(resource);
  if (recovery === undefined) {
    const begun: Recovery = { failures: recover(session, name, resource), settled: false };
    begun.failures.then(
      () => {
        begun.settled = true;
      },
      // The waiting caller gets the error; the next one tries again.
      () => known.delete(resource),
    );
    recovery = begun;
    known.set(resource, recovery);
  }
  return recovery;
}

/** Rejects only if the failure cannot be recorded. */
async function recover(session: Session, name: string, resource: StagedResource): Promise<readonly RecoveryFailure[]> {
  const failures: RecoveryFailure[] = [];
  const failed = new Set<string>();
  const fail = (thrown: unknown, mark?: string): void => {
    const message = describeThrown(thrown);
    failures.push({ resource: name, message });
    const entry = { type: 'resource-recovery-failed', resource: name, message };
    session.record(mark === undefined ? entry : { ...entry, mark });
  };
  try {
    const marks = (await resource.unsettled?.())?.filter((mark) => isOf(session, mark)) ?? [];
    const committed = marks.length === 0 ? new Set() : findCommitted(session, marks);
    for (const mark of marks) {
      try {
        await resource.recover?.(mark, committed.has(mark));
      } catch (thrown) {
        failed.add(mark);
        fail(thrown, mark);
      }
    }
    noteRecovered(session, name, failed);
  } catch (thrown) {
    fail(thrown);
  }
  return failures;
}

/** False for a mark beyond the end of this log: it belongs to another log with the same id. */
function isOf(session: Session, mark: string): boolean {
  const own =
    mark.startsWith(prefixOf(session)) && /^\d+\.[0-9a-f]{16}\.\d+$/.test(mark.slice(prefixOf(session).length));
  return own && seqOf(session, mark) <= session.snapshot().seq;
}

function seqOf(session: Session, mark: string): number {
  return Number.parseInt(mark.slice(prefixOf(session).length), 10);
}

function findCommitted(session: Session, marks: readonly string[]): ReadonlySet<unknown> {
  const committed = new Set<unknown>();
  const hosts = new Map<unknown, unknown>();
  for (const record of session.records(Math.min(...marks.map((mark) => seqOf(session, mark))))) {
    if (record.type === 'tool-call-end' && record['mark'] !== undefined) committed.add(record['mark']);
    if (record.type === 'resources-staged') hosts.set(record['mark'], record['host']);
    // Since then the session has gone on without these changes.
    if (record.type === 'resources-abandoned')
      for (const [mark, host] of hosts) if (host === record['host']) committed.delete(mark);
  }
  return committed;
}
