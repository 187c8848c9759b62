import type { RunEvent } from '@holdfast/core';

/** What became of one file, seen over a whole run. */
export interface FileChange {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
}

/** Sums up what the committed calls of a run did to files. */
export interface ChangeCollector {
  add(event: RunEvent): void;
  /**
   * In path order: a file that was created and then changed counts once, as created; one that was created and then removed not at
   * all.
   */
  list(): readonly FileChange[];
}

export function createChangeCollector(): ChangeCollector {
  const changes = new Map<string, FileChange['change']>();
  return {
    add(event) {
      if (event.type !== 'tool-call-end' || event.outcome.kind !== 'ok') return;
      for (const { key, change } of event.writes) {
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
