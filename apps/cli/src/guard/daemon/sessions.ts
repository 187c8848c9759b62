import type { Guard } from '@holdfast/guard';
import type { Agent, HookInput } from '@holdfast/guard/agents';
import { inTurn, type TurnOptions } from '../../logs/in-turn.ts';
import type { GuardHost } from '../../user/guard-folder.ts';
import type { SharedStore } from '../../workspace/shared-store.ts';
import type { HookHost } from '../governed.ts';
import { findLog, type LogFile, type OpenGuard, type OpenLog, openLog, prepareGuard } from '../session.ts';

export interface HeldLimits {
  /** How long an unused session stays in memory. */
  readonly idleMs: number;
  /** How long a session waits for the report of a call that was let through. */
  readonly reportMs: number;
}

/**
 * The sessions that a daemon has in memory. Their logs are locked during a call only, so that `approve`, `show` and hooks without a daemon
 * can work on them; a log that another process has written to is read again.
 */
export class HeldSessions {
  readonly #held = new Map<string, HeldSession>();
  readonly #limits: HeldLimits;

  constructor(limits: HeldLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The guard of an agent's session, for one event. @throws as `openGuard`. */
  take(agent: Agent, input: HookInput, host: HookHost, options: TurnOptions): Promise<OpenGuard> {
    const file = findLog(agent, input, host);
    const held = this.#held.get(file.id) ?? new HeldSession(file, host);
    this.#held.set(file.id, held);
    return held.take(() => prepareGuard(agent, input, host), options);
  }

  /** Lets go of unused sessions. Calls that were never reported end in doubt. */
  async closeIdle(nowMs: number, options: TurnOptions): Promise<void> {
    const { idleMs, reportMs } = this.#limits;
    const idle = [...this.#held].filter(([, held]) => held.isIdle(nowMs, idleMs));
    for (const [id, held] of idle) {
      if (held.waitsForReport && !held.isIdle(nowMs, reportMs)) continue;
      this.#held.delete(id);
      if (held.waitsForReport) await held.settle(options);
      await held.close();
    }
  }

  async close(): Promise<void> {
    for (const [id, held] of this.#held) {
      this.#held.delete(id);
      await held.close();
    }
  }
}

class HeldSession {
  readonly #file: LogFile;
  readonly #host: GuardHost;
  #open: OpenLog | undefined;
  #guard: Guard | undefined;
  /** Resolves when the last one in the queue is done. */
  #tail: Promise<void> = Promise.resolve();
  #queued = 0;
  #usedAtMs = Date.now();

  constructor(file: LogFile, host: GuardHost) {
    this.#file = file;
    this.#host = host;
  }

  isIdle(nowMs: number, idleMs: number): boolean {
    return this.#queued === 0 && nowMs - this.#usedAtMs >= idleMs;
  }

  /** As far as this process knows. */
  get waitsForReport(): boolean {
    const calls = this.#open?.session.openWork().calls ?? [];
    return calls.some(({ start, run }) => start !== undefined && run === undefined);
  }

  async take(prepare: () => ReturnType<typeof prepareGuard>, options: TurnOptions): Promise<OpenGuard> {
    const finish = await this.#queue();
    try {
      const { createFor, store } = await prepare();
      const { session, log } = await inTurn(() => this.#retake(store), options);
      const guard = createFor(session);
      this.#guard = guard;
      return {
        guard,
        session,
        path: this.#file.path,
        end: async () => {
          try {
            // Its session is read again at the next event: another machine may have written to it.
            if (log === undefined) await this.close();
            else log.release();
          } finally {
            finish();
          }
        },
      };
    } catch (thrown) {
      finish();
      throw thrown;
    }
  }

  async settle(options: TurnOptions): Promise<void> {
    const guard = this.#guard;
    const open = this.#open;
    // Another process has written to the log since: its calls are not ours to end.
    if (guard === undefined || open?.log === undefined) return;
    const { log } = open;
    if (!(await inTurn(async () => log.retake(), options))) return;
    try {
      await guard.end();
    } finally {
      log.release();
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.session.close();
  }

  async #queue(): Promise<() => void> {
    const before = this.#tail;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tail = promise;
    this.#queued += 1;
    await before;
    return () => {
      this.#queued -= 1;
      this.#usedAtMs = Date.now();
      resolve();
    };
  }

  async #retake(store: SharedStore | undefined): Promise<OpenLog> {
    if (this.#open?.log?.retake() === true) return this.#open;
    await this.close();
    this.#open = await openLog(this.#file, store, this.#host);
    return this.#open;
  }
}
