import type { Clock, Deadline } from '@holdfast/core';

/** Why the time of a run or of a direct call is over. */
export type EndOfLife = 'deadline' | 'aborted';

/** How long calls may go on: until the caller aborts or the deadline comes. One timer and one listener, however many calls. */
export interface Lifetime {
  readonly deadline: Deadline;
  readonly ended: EndOfLife | undefined;
  /** Nothing can end it. */
  readonly endless: boolean;
  /** Calls `listener` once at the end, at once if that has been; the answer takes it back. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
  /** Lets go of timer and listener. */
  dispose(): void;
}

export interface LifetimeOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Default: no end. */
  readonly timeoutMs: number | undefined;
}

export function startLifetime({ clock, signal, timeoutMs }: LifetimeOptions): Lifetime {
  if (signal === undefined && timeoutMs === undefined) return endless;
  const listeners = new Set<(end: EndOfLife) => void>();
  const atMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs;
  let ended: EndOfLife | undefined;

  const end = (why: EndOfLife): void => {
    if (ended !== undefined) return;
    ended = why;
    dispose();
    for (const listener of listeners) listener(why);
    listeners.clear();
  };
  const abort = (): void => end('aborted');
  const stopTimer = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => end('deadline'));
  const dispose = (): void => {
    stopTimer?.();
    signal?.removeEventListener('abort', abort);
  };
  if (signal?.aborted === true) end('aborted');
  else signal?.addEventListener('abort', abort);

  return {
    endless: false,
    deadline: Object.freeze({
      atMs,
      remainingMs: () => (atMs === Number.POSITIVE_INFINITY ? atMs : Math.max(0, atMs - clock.now())),
    }),
    get ended() {
      return ended;
    },
    onEnd(listener) {
      if (ended !== undefined) {
        listener(ended);
        return () => undefined;
      }
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    dispose,
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
