import type { Slice } from '@holdfast/core';
import type { McpSessions } from '@holdfast/mcp';
import { openSession, type Session } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { inTurn } from '../logs/in-turn.ts';
import { reportFailure } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { openGuardFolder } from '../user/guard-folder.ts';
import { openRedaction } from '../user/redaction.ts';
import { rememberWorkspace } from '../workspace/known.ts';
import { prepareLogPath } from '../workspace/session-logs.ts';
import { findSharedStore } from '../workspace/shared-store.ts';

/** How long a log stays open after a call, so that calls in a row need not read it again. */
const idleMs = 1_000;
/** How long a call waits for another process to let go of the log, such as `holdfast approve`. */
const turnMs = 30_000;

export interface TurnPlace {
  /** The folder whose logs have this one. */
  readonly workspace: string;
  readonly id: string;
  readonly slices?: readonly Slice[];
}

/** The one session of a served client: open while calls run, and between them for other processes to answer. */
export class SessionTurns implements McpSessions {
  readonly #place: TurnPlace;
  readonly #host: Host;
  #session: Promise<Session> | undefined;
  #users = 0;
  #stopTimer: () => void = () => undefined;

  constructor(place: TurnPlace, host: Host) {
    this.#place = place;
    this.#host = host;
  }

  async open(): Promise<Session> {
    this.#stopTimer();
    this.#users += 1;
    this.#session ??= this.#openLog();
    try {
      return await this.#session;
    } catch (thrown) {
      this.#users -= 1;
      this.#session = undefined;
      throw thrown;
    }
  }

  async release(_principal: string, waiting: boolean): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    if (waiting) await this.close();
    else this.#stopTimer = this.#host.clock.after(idleMs, () => void this.#closeIdle());
  }

  /** An error is reported only: the next call opens the log again. */
  async #closeIdle(): Promise<void> {
    try {
      await this.close();
    } catch (thrown) {
      reportFailure(thrown, this.#host);
    }
  }

  async close(): Promise<void> {
    this.#stopTimer();
    if (this.#users > 0) return;
    const session = this.#session;
    this.#session = undefined;
    await (await session)?.close();
  }

  async #openLog(): Promise<Session> {
    const { workspace, id, slices = [] } = this.#place;
    const store = await findSharedStore(this.#host);
    const path = await prepareLogPath(store === undefined ? workspace : openGuardFolder(this.#host), id);
    if (store === undefined) await rememberWorkspace(workspace, this.#host);
    const logs = store?.logs() ?? jsonlStore(path);
    const redaction = await openRedaction(path, this.#host);
    const { clock } = this.#host;
    return inTurn(async () => openSession(logs, { id, slices, ...redaction }), {
      untilMs: Date.now() + turnMs,
      pause: (ms) => new Promise((resolve) => clock.after(ms, resolve)),
    });
  }
}
