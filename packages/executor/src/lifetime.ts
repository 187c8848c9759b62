import type { Clock, Deadline } from '@holdfast/core';
import type { BudgetAccount } from './budget.ts';

/** Why the time of a run or of a direct call is over. */
export type EndOfLife = 'deadline' | 'aborted' | 'budget';

/** How long calls may go on: until the caller aborts, or the deadline or the end of the budget comes. One timer and one listener, however many calls. */
export interface Lifetime {
  readonly deadline: Deadline;
  readonly ended: EndOfLife | undefined;
  /** Nothing can end it. */
  readonly endless: boolean;
  /** Calls `listener` once at the end, at once if that has been; the answer takes it back. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
  /** Lets go of timer and listeners. */
  dispose(): void;
}

export interface LifetimeOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Default: no end. */
  readonly timeoutMs: number | undefined;
  readonly budgets: readonly BudgetAccount[];
  /** What this one is a part of. */
  readonly outer?: Lifetime | undefined;
}

export function startLifetime({ clock, signal, timeoutMs, budgets, outer }: LifetimeOptions): Lifetime {
  if (signal === undefined && timeoutMs === undefined && budgets.length === 0 && (outer?.endless ?? true))
    return endless;
  const listeners = new Set<(end: EndOfLife) => void>();
  const nowMs = clock.now();
  for (const budget of budgets) budget.begin();
  const wallAtMs = nowMs + Math.min(...budgets.map((budget) => budget.remainingWallMs()), Number.POSITIVE_INFINITY);
  const ownAtMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : nowMs + timeoutMs;
  const endsAtMs = Math.min(ownAtMs, wallAtMs);
  const timeEndsBy: EndOfLife = wallAtMs < ownAtMs ? 'budget' : 'deadline';
  const atMs = Math.min(endsAtMs, outer?.deadline.atMs ?? Number.POSITIVE_INFINITY);
  let ended: EndOfLife | undefined;
  let disposed = false;

  const end = (why: EndOfLife): void => {
    if (ended !== undefined) return;
    ended = why;
    release();
    for (const listener of listeners) listener(why);
    listeners.clear();
  };
  /** A tool that keeps the thread busy also keeps timers from firing: this one's, and those around it. */
  const look = (): EndOfLife | undefined => {
    if (ended !== undefined || disposed) return ended;
    if (timed && clock.now() >= endsAtMs) end(timeEndsBy);
    else if (outer?.ended !== undefined) end(outer.ended);
    return ended;
  };
  const abort = (): void => end('aborted');
  const timed = endsAtMs !== Number.POSITIVE_INFINITY;
  const stopTimer = timed ? clock.after(endsAtMs - nowMs, () => end(timeEndsBy)) : undefined;
  let stopOuter: (() => void) | undefined;
  const release = (): void => {
    stopTimer?.();
    stopOuter?.();
    signal?.removeEventListener('abort', abort);
  };
  stopOuter = outer?.onEnd(end);
  if (signal?.aborted === true) end('aborted');
  else signal?.addEventListener('abort', abort);

  return {
    endless: false,
    deadline: Object.freeze({
      atMs,
      remainingMs: () => (atMs === Number.POSITIVE_INFINITY ? atMs : Math.max(0, atMs - clock.now())),
    }),
    get ended() {
      return look();
    },
    onEnd(listener) {
      const why = look();
      if (why !== undefined) {
        listener(why);
        return () => undefined;
      }
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    dispose() {
      if (disposed) return;
      disposed = true;
      release();
      for (const budget of budgets) budget.end();
    },
  };
}

const nothingToDo = (): void => undefined;

const endless: Lifetime = Object.freeze({
  endless: true,
  deadline: Object.freeze({ atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY }),
  ended: undefined,
  onEnd: () => nothingToDo,
  dispose: nothingToDo,
});
