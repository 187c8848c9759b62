import type { Colors } from '../terminal/colors.ts';
import { toPrintable } from '../terminal/text.ts';

/** The net change to one file over a run. */
export interface FileChange {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
}

/** A call that has ended: an event of a run or a record of a log. */
export interface EndedWrites {
  readonly outcome: { readonly kind: string };
  readonly writes: readonly { readonly key: string; readonly change: FileChange['change'] }[];
}

/** Sums up the file changes of a run's committed calls. */
export interface ChangeCollector {
  add(call: EndedWrites): void;
  /**
   * In path order. A file that was created and then changed counts once, as created; one that was created and then removed is
   * omitted.
   */
  list(): readonly FileChange[];
}

export function createChangeCollector(): ChangeCollector {
  const changes = new Map<string, FileChange['change']>();
  return {
    add({ outcome, writes }) {
      if (outcome.kind !== 'ok') return;
      for (const { key, change } of writes) {
        const earlier = changes.get(key);
        if (earlier === 'created' && change === 'removed') changes.delete(key);
        else if (earlier === 'created') changes.set(key, 'created');
        else if (earlier === 'removed' && change === 'created') changes.set(key, 'changed');
        else changes.set(key, change);
      }
    },
    list: () =>
      [...changes].map(([path, change]) => ({ path, change })).sort((left, right) => (left.path < right.path ? -1 : 1)),
  };
}

/** One line per change: `+ created path`. */
export function formatChanges(changes: readonly FileChange[], colors: Colors): readonly string[] {
  return changes.map(({ path, change }) => {
    const paint = { created: colors.green, changed: colors.yellow, removed: colors.red }[change];
    return `  ${paint(`${{ created: '+', changed: '~', removed: '-' }[change]} ${change.padEnd(7)}`)} ${toPrintable(path)}`;
  });
}
