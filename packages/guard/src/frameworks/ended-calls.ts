import { HoldfastError } from '@holdfast/core';
import type { LogRecord, Session } from '@holdfast/session';

/** The direct calls of a session that have ended, and those that are running. */
export class EndedCalls {
  readonly #session: Session;
  /** The number of the last record of each call. */
  readonly #ends = new Map<string, number>();
  readonly #running = new Map<string, Promise<unknown>>();

  private constructor(session: Session) {
    this.#session = session;
    for (const record of session.records()) this.#note(record);
    session.subscribe((record) => this.#note(record));
  }

  /** One for each session. */
  static of(session: Session): EndedCalls {
    const known = all.get(session) ?? new EndedCalls(session);
    all.set(session, known);
    return known;
  }

  /** The end of a call. @throws HoldfastError `guard.failed` if the log has lost it: the call must not run again. */
  find(callId: string): LogRecord | undefined {
    const seq = this.#ends.get(callId);
    if (seq === undefined) return undefined;
    const [record] = this.#session.records(seq);
    if (record?.['callId'] === callId) return record;
    throw new HoldfastError('guard.failed', `The log does not say how the call \`${callId.slice(0, 100)}\` ended.`, {
      data: { callId },
    });
  }

  isRunning(callId: string): boolean {
    return this.#running.has(callId);
  }

  /** Runs what has the same key one after the other. */
  async inTurn<Value>(key: string, run: () => Promise<Value>): Promise<Value> {
    const turn = (this.#running.get(key) ?? Promise.resolve()).then(run);
    const settled = turn.then(nothing, nothing);
    this.#running.set(key, settled);
    try {
      return await turn;
    } finally {
      if (this.#running.get(key) === settled) this.#running.delete(key);
    }
  }

  #note({ type, callId, run, parentId, seq }: LogRecord): void {
    const isDirect = run === undefined && parentId === undefined;
    if (type === 'tool-call-end' && isDirect && typeof callId === 'string') this.#ends.set(callId, seq);
  }
}

const all = new WeakMap<Session, EndedCalls>();
const nothing = (): void => undefined;
