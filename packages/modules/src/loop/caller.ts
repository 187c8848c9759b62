import { systemClock } from '@holdfast/core';
import type { Deadline } from '@holdfast/core/types';
import { type Caller, type CallOptions, openCaller } from '@holdfast/executor';
import type { EndOfLife } from '@holdfast/executor/internal';
import type { Session } from '@holdfast/session';
import type { ToolCatalog, ToolCatalogOptions } from './tool-catalog.ts';

/** Makes the calls of one loop, under one deadline and one budget. */
export interface LoopCaller {
  /** Uses the tools as of the last `refresh`. */
  readonly caller: Caller;
  readonly session: Session;
  /** Fires when the loop must end. */
  readonly signal: AbortSignal;
  /** The deadline from `timeoutMs`. */
  readonly deadline: Deadline | undefined;
  /** The reason why the loop cannot continue, if any. */
  whyOver(): EndOfLife | undefined;
  /** Picks up newly registered tools. Only between rounds, while no call is running. */
  refresh(): void;
  /** The number in the ids of its calls; unique in the session, including earlier processes. Recorded on first use. */
  readonly loop: number;
  dispose(): void;
}

// Most predictors use models with a small context.
const maxResultChars = 8_000;

/** `resumed`: the number of a loop to resume. @throws HoldfastError as `executeToolCall`, for a wrong configuration. */
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
      // Only now: until here the wall time of the budget runs.
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

/** Recording it makes the next number different. */
function beginLoop(session: Session, atMs: number): number {
  const loop = session.snapshot().seq;
  session.record({ type: 'tool-loop-start', loop, atMs });
  return loop;
}
