import type { ProcessIdentity } from '@holdfast/session/lock';
import type { Change, Landing } from '../staging/backend.ts';
import { cleanupFailed, undoFailed } from '../staging/errors.ts';
import { type HostAccess, type HostChange, planHostChange } from './changes.ts';
import { type Journal, openJournal, type Stamp } from './journal.ts';

/** The identity of a commit in its journal. */
export interface CommitIdentity {
  readonly root: string;
  /** Unique to this commit. */
  readonly token: string;
  readonly mark: string | undefined;
  readonly owner: ProcessIdentity;
}

/** Records the changes of a commit in a journal and prepares them. */
export async function prepareHostChanges(
  access: HostAccess,
  changes: readonly Change[],
  { token, mark, ...identity }: CommitIdentity,
): Promise<Landing> {
  const planned: HostChange[] = [];
  for (const [index, change] of changes.entries()) planned.push(await planHostChange(access, change, { token, index }));
  if (planned.length === 0) return { commit: async () => undefined, discard: async () => undefined };
  const journal = await openJournal(access.operations, {
    ...identity,
    token,
    mark: mark ?? null,
    changes: planned.map(({ recorded }) => recorded),
  });
  try {
    const stamps: (Stamp | null)[] = [];
    for (const change of planned) stamps.push(await change.prepare());
    await journal.complete(stamps);
  } catch (error) {
    const failures = await cleanAll(planned, journal);
    throw failures.length === 0 ? error : cleanupFailed([error, ...failures]);
  }
  return createLanding(planned, journal);
}

function createLanding(changes: readonly HostChange[], journal: Journal): Landing {
  async function end(): Promise<readonly unknown[]> {
    try {
      // Final for later processes as well: nothing will be applied or undone. Without leftovers, removing the journal does the same.
      if (changes.some((change) => change.leaves())) await journal.settle();
    } catch (failure) {
      await closeAll(changes);
      return [failure];
    }
    return cleanAll(changes, journal);
  }

  return {
    async commit() {
      const begun: HostChange[] = [];
      try {
        for (const change of changes) {
          begun.push(change);
          await change.apply();
        }
      } catch (error) {
        const undoFailures = await failuresOf(begun.toReversed(), (change) => change.undo());
        if (undoFailures.length > 0) {
          // The journal and all backups stay: once this process has ended, another one finishes the commit.
          await closeAll(changes);
          throw undoFailed([error, ...undoFailures]);
        }
        const failures = await end();
        throw failures.length === 0 ? error : cleanupFailed([error, ...failures]);
      }
      await discard();
    },
    discard,
  };

  async function discard(): Promise<void> {
    const failures = await end();
    if (failures.length > 0) throw cleanupFailed(failures);
  }
}

/** Runs every step, even after failures. */
async function failuresOf(
  changes: readonly HostChange[],
  step: (change: HostChange) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const change of changes) {
    try {
      await step(change);
    } catch (failure) {
      failures.push(failure);
    }
  }
  return failures;
}

/** Removes as many leftovers as possible. If any remain, the journal stays for a later process. */
async function cleanAll(changes: readonly HostChange[], journal: Journal): Promise<readonly unknown[]> {
  const failures = await failuresOf(changes, (change) => change.clean());
  await closeAll(changes);
  try {
    await journal.close();
    if (failures.length === 0) await journal.remove();
  } catch (failure) {
    failures.push(failure);
  }
  return failures;
}

async function closeAll(changes: readonly HostChange[]): Promise<void> {
  for (const change of changes) await change.close();
}
