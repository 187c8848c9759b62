import { HoldfastError } from '@holdfast/core';
import type { LogRecord, OpenedLog, SessionStore } from '@holdfast/session';
import { type StoreCheck, type StoreUnderTest, storeChecks } from './store-checks.ts';

export interface StoreConformanceOptions<Store extends SessionStore> {
  /** A new store with no records, at a place of its own. */
  readonly create: () => Store | Promise<Store>;
  /** Everything that a store which has been closed has kept, read anew. */
  readonly read: (store: Store) => readonly LogRecord[] | Promise<readonly LogRecord[]>;
  /** Opens the log of a store to go on with it; it must refuse one that is still open. Left out where that cannot be done. */
  readonly reopen?: (store: Store) => OpenedLog | Promise<OpenedLog>;
  /** The store keeps values and not their JSON: it need not refuse anything, nor a second writer. Default: false. */
  readonly inMemory?: boolean;
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
  return storeChecks.map((check) => {
    const skipped = reasonToSkip(check, { reopens: reopen !== undefined, inMemory });
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

function reasonToSkip(
  { needs = [] }: StoreCheck,
  { reopens, inMemory }: { readonly reopens: boolean; readonly inMemory: boolean },
): string | undefined {
  if (needs.includes('reopen') && !reopens) return 'no `reopen` was given';
  if (needs.includes('text') && inMemory) return 'the store keeps values, not text';
  return undefined;
}
