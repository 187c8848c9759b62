import type { Colors } from '../terminal/colors.ts';
import { toPrintable } from '../terminal/text.ts';

/** What became of one file, seen over a whole run. */
export interface FileChange {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
}

/** A call that has ended, as an event of a run tells it or as a record of a log. */
export interface EndedWrites {
  readonly outcome: { readonly kind: string };
  readonly writes: readonly { readonly key: string; readonly change: FileChange['change'] }[];
}

/** Sums up what the committed calls of a run did to files. */
export interface ChangeCollector {
  add(call: EndedWrites): void;
  /**
   * In path order: a file that was created and then changed counts once, as created; one that was created and then removed not at
   * all.
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

/** A line for each change, `+ created path`. */
export function formatChanges(changes: readonly FileChange[], colors: Colors): readonly string[] {
  return changes.map(({ path, change }) => {
    const paint = { created: colors.green, changed: colors.yellow, removed: colors.red }[change];
    return `  ${paint(`${{ created: '+', changed: '~', removed: '-' }[change]} ${change.padEnd(7)}`)} ${toPrintable(path)}`;
  });
}
