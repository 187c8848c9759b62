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
  /** A new, empty store. */
  readonly create: () => Store | Promise<Store>;
  /** The stored records of a closed store, read anew. */
  readonly read: (store: Store) => readonly LogRecord[] | Promise<readonly LogRecord[]>;
  /** Opens a store's log to continue; must reject one that is still open. Omit if impossible. */
  readonly reopen?: (store: Store) => OpenedLog | Promise<OpenedLog>;
  /** True if the store keeps values instead of JSON text: it need not reject invalid JSON, a second writer, or appends after `close`. Default: false. */
  readonly inMemory?: boolean;
  /** Unsupported optional features. Default: none. */
  readonly without?: readonly ('read' | 'sync' | 'snapshots')[];
}

/**
 * Conformance checks for a `SessionStore`, for any test runner: each check is one test, `test(name, run)`, with its own store.
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
    // Of those that were opened for this log, the last.
    let last: SessionStore = store;
    return {
      store,
      read: async () => {
        await last.closed?.();
        return read(store);
      },
      reopen: async () => {
        if (reopen === undefined) throw new HoldfastError('conformance.failed', 'The store cannot be reopened.');
        await last.closed?.();
        const opened = await reopen(store);
        last = opened.store;
        return opened;
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
