import { defineSlice, type KeyedState, type Place, type PlaceView, type Slice, upsert } from '@holdfast/core';
import type { Session } from '@holdfast/session';

/**
 * Files and folders that calls of the session began to write, by path; true: with their contents. Without reducers, like policy states,
 * because a log is replayed without this definition. Does not roll back, as disks do not.
 */
const written: Slice<KeyedState<boolean>> = defineSlice<boolean>({
  id: 'holdfast/written',
  kind: 'keyed',
  retention: 'log',
  reducers: {},
});

/** A view that includes what calls of the session wrote. */
export function viewWithWritten(view: PlaceView, session: Session): PlaceView {
  return Object.freeze({
    ...view,
    written: (path: string) => view.written?.(path) === true || isWritten(path, session),
  });
}

function isWritten(path: string, session: Session): boolean {
  const known = session.read(written);
  if (known.size === 0) return false;
  if (known.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (known.get(path.slice(0, end)) === true) return true;
  return known.get('/') === true;
}

/** Notes what a call is about to write: even a failed call may have written it. */
export function noteWritten(writes: readonly Place[], session: Session): void {
  if (writes.length === 0) return;
  const known = session.read(written);
  const changes = new Map<string, boolean>();
  for (const { path, recursive } of writes) {
    // Files tracked by Git belong to the workspace.
    if (recursive?.skips.includes('untracked') === true) continue;
    const whole = recursive !== undefined;
    const before = changes.get(path) ?? known.get(path);
    if (before === undefined || (whole && !before)) changes.set(path, whole);
  }
  if (changes.size === 0) return;
  const transaction = session.begin();
  try {
    transaction.apply(
      written,
      [...changes].map(([path, whole]) => upsert(path, whole)),
    );
    transaction.commit({ type: 'event', events: [], changes: [...transaction.changes] });
  } finally {
    transaction.discard();
  }
}
