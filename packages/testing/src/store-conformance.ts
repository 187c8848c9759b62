import { HoldfastError } from '@holdfast/core';
import type { LogRecord, OpenedLog, SessionStore } from '@holdfast/session';
import type { StoreCheck, StoreNeed, StoreUnderTest } from './store-check.ts';
import { keepingChecks } from './store-checks.ts';
import { readingChecks } from './store-reading-checks.ts';
import { sessionChecks } from './store-session-checks.ts';
import { snapshotChecks } from './store-snapshot-checks.ts';
import { writingChecks } from './store-writing-checks.ts';

const storeChecks: readonly StoreCheck[] = [
  ...keepingChecks,
  ...writingChecks,
  ...readingChecks,
  ...snapshotChecks,
  ...sessionChecks,
];

export interface StoreConformanceOptions<Store extends SessionStore> {
  /** A new store with no records, at a place of its own. */
  readonly create: () => Store | Promise<Store>;
  /** Everything that a store which has been closed has kept, read anew. */
  readonly read: (store: Store) => readonly LogRecord[] | Promise<readonly LogRecord[]>;
  /** Opens the log of a store to go on with it; it must refuse one that is still open. Left out where that cannot be done. */
  readonly reopen?: (store: Store) => OpenedLog | Promise<OpenedLog>;
  /** The store keeps values and not their JSON: it need not refuse what is none, nor a second writer, nor anything after `close`. Default: false. */
  readonly inMemory?: boolean;
  /** What of a store is not there, though a session can do more with it. Default: nothing. */
  readonly without?: readonly ('read' | 'sync' | 'snapshots')[];
}

/** One thing that every store has to do. */
export interface ConformanceCheck {
  /** A sentence, to name a test by. */
  readonly name: string;
  /** Why this check cannot be made of the store; such a one has to be shown as skipped, and its `run` throws. */
  readonly skipped: string | undefined;
  /** Rejects with HoldfastError `conformance.failed` when the store does something else, or with what the store throws. */
  readonly run: () => Promise<void>;
}

/**
 * What a `SessionStore` has to do, for any test runner: each check is one test, `test(name, run)`, and makes a store of its own.
 */
export function storeConformance<Store extends SessionStore>({
  create,
  read,
  reopen,
  inMemory = false,
  without = [],
}: StoreConformanceOptions<Store>): readonly ConformanceCheck[] {
  const open = async (): Promise<StoreUnderTest> => {
    const store = await create();
    return {
      store,
      read: async () => read(store),
      reopen: async () => {
        if (reopen === undefined) throw new HoldfastError('conformance.failed', 'The store cannot be reopened.');
        return reopen(store);
      },
    };
  };
  const lacking = new Map<StoreNeed, string>(without.map((what) => [what, `the store is without \`${what}\``]));
  if (reopen === undefined) lacking.set('reopen', 'no `reopen` was given');
  if (inMemory) lacking.set('text', 'the store keeps values, not text');
  return storeChecks.map((check) => {
    const skipped = reasonToSkip(check, lacking);
    return {
      name: check.name,
      skipped,
      run: async () => {
        if (skipped !== undefined) {
          throw new HoldfastError('conformance.skipped', `Not checked, \`${check.name}\`: ${skipped}.`);
        }
        await check.run(await open());
      },
    };
  });
}

function reasonToSkip({ needs = [] }: StoreCheck, lacking: ReadonlyMap<StoreNeed, string>): string | undefined {
  return needs.map((need) => lacking.get(need)).find((reason) => reason !== undefined);
}
