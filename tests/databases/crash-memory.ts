import { setImmediate } from 'node:timers/promises';
import { HoldfastError } from '@holdfast/core';
import { advance } from '@holdfast/executor';
import { type LogRecord, memoryStore, type SessionLogs } from '@holdfast/session';
import { type CrashesSeen, checkSession, nothingSeen } from './crash-check.ts';
import { crashOptions, type Effect } from './crash-plan.ts';

/** A log in memory whose writer can append so many records, and then nothing more: as if its process had ended. */
class MortalLogs implements SessionLogs {
  readonly records: LogRecord[] = [];
  #left = Number.POSITIVE_INFINITY;

  endAfter(records: number): void {
    this.#left = records;
  }

  open(): ReturnType<SessionLogs['open']> {
    const { append, read } = memoryStore([...this.records]);
    const ended = new AbortController();
    return {
      records: [...this.records],
      store: {
        read: (from) => read(from),
        lost: ended.signal,
        append: (entry, seq, atMs) => {
          if (this.#left <= 0) ended.abort(new HoldfastError('log.locked', 'Its process has ended.'));
          ended.signal.throwIfAborted();
          this.#left -= 1;
          append(entry, seq, atMs);
          this.records.push({ seq, atMs, ...entry });
        },
        close: () => undefined,
      },
    };
  }
}

/** Crashes of one process, one session each, until every one has ended. */
export async function crashInMemory(crashes: number, random: () => number): Promise<CrashesSeen> {
  const seen = nothingSeen();
  let crashed = 0;
  while (crashed < crashes) {
    const logs = new MortalLogs();
    const effects: Effect[] = [];
    const told = new Set<string>();
    const id = `session-${crashed}`;
    const send = async (effect: Effect): Promise<void> => {
      effects.push(effect);
      await setImmediate();
    };
    const options = crashOptions(id, send);
    for (let done = false; !done; ) {
      logs.endAfter(1 + Math.floor(random() * 12));
      const advanced = await advance(id, {
        ...options,
        store: logs,
        onEvent: (event) => {
          if (event.type === 'tool-call-end' && event.outcome.kind === 'ok') told.add(event.callId);
        },
      });
      done = advanced.done;
      if (!done) crashed += 1;
    }
    checkSession(logs.records, effects, told, seen);
  }
  return { ...seen, kills: crashed };
}
