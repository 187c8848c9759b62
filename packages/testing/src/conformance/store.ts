import { HoldfastError } from '@holdfast/core';
import type { LogRecord, OpenedLog, SessionStore } from '@holdfast/session';
import {
  type ConformanceCheck,
  type StoreCheck,
  type StoreNeed,
  type StoreUnderTest,
  toConformanceCheck,
} from './check.ts';
import { keepingChecks } from './keeping.ts';
import { readingChecks, snapshotChecks } from './reading.ts';
import { sessionChecks } from './session.ts';
import { writingChecks } from './writing.ts';

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
  return storeChecks.map((check) =>
    toConformanceCheck(check.name, reasonToSkip(check, lacking), async () => check.run(await open())),
  );
}

function reasonToSkip({ needs = [] }: StoreCheck, lacking: ReadonlyMap<StoreNeed, string>): string | undefined {
  return needs.map((need) => lacking.get(need)).find((reason) => reason !== undefined);
}
