import { type Deadline, systemClock } from '@holdfast/core';
import { type Caller, type CallOptions, type EndOfLife, openCaller } from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import type { ToolCatalog, ToolCatalogOptions } from './tool-catalog.ts';

/** Makes the calls of one loop, with one time and one budget for all of it. */
export interface LoopCaller {
  /** Over the tools as they were at the last `refresh`. */
  readonly caller: Caller;
  readonly session: Session;
  /** Fires when the loop has to end. */
  readonly signal: AbortSignal;
  /** Of `timeoutMs`. */
  readonly deadline: Deadline | undefined;
  /** Why the loop cannot go on. */
  whyOver(): EndOfLife | undefined;
  /** Takes up tools that were registered meanwhile. Between rounds only: nothing may be under way. */
  refresh(): void;
  /** By which its calls are named; that of no other loop of the session, also of earlier processes. Recorded when first asked for. */
  readonly loop: number;
  dispose(): void;
}

// Most predictors are for models that read little.
const maxResultChars = 8_000;

/** `loop`: of one that is gone on with. @throws HoldfastError as `executeToolCall`, for a wrong configuration. */
export function openLoopCaller(catalog: ToolCatalog, options: ToolCatalogOptions, resumed?: number): LoopCaller {
  const callOptions = (): CallOptions => {
    const given = catalog.callOptions(options);
    return { ...given, maxResultChars: given.maxResultChars ?? maxResultChars };
  };
  const first = callOptions();
  const { clock = systemClock, timeoutMs } = first;
  const controller = new AbortController();
  const end = (why: EndOfLife): void =>
    controller.abort(new DOMException(`The loop was stopped: ${why}.`, 'AbortError'));
  let { tools } = first;
  let caller = openCaller(first);
  const endsAtMs = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
  caller.onEnd(end);
  let loop = resumed;
  return {
    get caller() {
      return caller;
    },
    get session() {
      return caller.session;
    },
    signal: controller.signal,
    deadline:
      endsAtMs === undefined
        ? undefined
        : Object.freeze({ atMs: endsAtMs, remainingMs: () => Math.max(0, endsAtMs - clock.now()) }),
    whyOver: () => caller.ended ?? (caller.exhausted ? 'budget' : undefined),
    refresh() {
      const next = callOptions();
      if (next.tools === tools) return;
      const opened = openCaller(
        endsAtMs === undefined ? next : { ...next, timeoutMs: Math.max(1, endsAtMs - clock.now()) },
      );
      opened.onEnd(end);
      // Only now: the wall time of a budget runs on.
      caller.dispose();
      caller = opened;
      ({ tools } = next);
    },
    get loop() {
      loop ??= beginLoop(caller.session, clock.now());
      return loop;
    },
    dispose: () => caller.dispose(),
  };
}

/** The record makes the next number another one. */
function beginLoop(session: Session, atMs: number): number {
  const loop = session.snapshot().seq;
  session.record({ type: 'tool-loop-start', loop, atMs });
  return loop;
}
