import { describeThrown, isStagedResource, type StagedResource } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { CallScope } from './call-scope.ts';

interface Marking {
  /** Tells this object of a session apart from one of the same id elsewhere, whose log says nothing about this one's calls. */
  readonly random: string;
  count: number;
}

const markings = new WeakMap<Session, Marking>();

/** Names the changes that a call prepares: when its process ends before they are applied, the end record with this mark decides. */
export function markChanges(session: Session): string {
  let marking = markings.get(session);
  if (marking === undefined) {
    const random = [...crypto.getRandomValues(new Uint8Array(8))];
    marking = { random: random.map((byte) => byte.toString(16).padStart(2, '0')).join(''), count: 0 };
    markings.set(session, marking);
  }
  marking.count += 1;
  // The number says from which record on the log has to be searched.
  return `${prefixOf(session)}${session.snapshot().seq}.${marking.random}.${marking.count}`;
}

function prefixOf({ id }: Session): string {
  return `${id.slice(0, 900)}#`;
}

/** A change of staged resources that could not be completed or put back. */
export interface RecoveryFailure {
  readonly resource: string;
  readonly message: string;
}

/**
 * Completes what was committed by the session's log and puts back what was not, in every resource that has changes of the session
 * whose process ended. What fails is recorded and costs the others nothing.
 */
export async function recoverResources({ session, resources }: CallScope): Promise<readonly RecoveryFailure[]> {
  const failures: RecoveryFailure[] = [];
  for (const [name, resource] of resources) {
    if (!isStagedResource(resource) || resource.unsettled === undefined) continue;
    const fail = (thrown: unknown, mark?: string): void => {
      const message = describeThrown(thrown);
      failures.push({ resource: name, message });
      session.record({
        type: 'resource-recovery-failed',
        resource: name,
        message,
        ...(mark === undefined ? {} : { mark }),
      });
    };
    try {
      const marks = (await resource.unsettled()).filter((mark) => mark.startsWith(prefixOf(session)));
      if (marks.length > 0) await recoverMarks(marks, { session, resource, fail });
    } catch (thrown) {
      fail(thrown);
    }
  }
  return failures;
}

async function recoverMarks(
  marks: readonly string[],
  {
    session,
    resource,
    fail,
  }: {
    readonly session: Session;
    readonly resource: StagedResource;
    readonly fail: (thrown: unknown, mark: string) => void;
  },
): Promise<void> {
  const committed = findCommitted(session, marks);
  for (const mark of marks) {
    try {
      await resource.recover?.(mark, committed.has(mark));
    } catch (thrown) {
      fail(thrown, mark);
    }
  }
}

function findCommitted(session: Session, marks: readonly string[]): ReadonlySet<unknown> {
  const from = marks
    .map((mark) => Number.parseInt(mark.slice(prefixOf(session).length), 10))
    .filter(Number.isSafeInteger);
  const committed = new Set<unknown>();
  for (const record of session.records(Math.min(...from))) {
    if (record.type === 'tool-call-end' && record['mark'] !== undefined) committed.add(record['mark']);
  }
  return committed;
}
