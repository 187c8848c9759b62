import { HoldfastError, systemClock } from '@holdfast/core';
import { abandonStore, type OpenedLog, readStore, type SessionLogs, type SessionStore } from '../log/log.ts';
import { checkOpening } from './check-options.ts';
import { createSessionId } from './id.ts';
import { createSession } from './live-session.ts';
import { replay } from './replay.ts';
import type { Session, SessionOptions } from './session.ts';

/** `nonce` and the default `id` apply to new sessions. */
export type OpenSessionOptions = Omit<SessionOptions, 'store'>;

/**
 * Opens the session `id` of a store: creates it if the store does not have it, else rebuilds it from its log and continues after the
 * last record. To rebuild a fork, use `replay`, which takes the session it was forked from.
 *
 * @throws HoldfastError `options.invalid`; `session.invalid` if the log belongs to another session; the errors of the store, such as
 * `log.locked` and `log.damaged`; the errors of `replay`, with `replay.failed` also for `content: 'none'` on a log with content.
 * The log is then closed.
 */
export async function openSession(
  store: SessionLogs | SessionStore,
  options: OpenSessionOptions = {},
): Promise<Session> {
  checkOpening(store, options);
  const { id = createSessionId((options.clock ?? systemClock).now()) } = options;
  const opened = await openLog(store, id);
  if (opened.records.length === 0) return createSession({ ...options, id, store: opened.store });
  try {
    return goOn(opened, options);
  } catch (thrown) {
    abandonStore(opened.store);
    throw thrown;
  }
}

function openLog(store: SessionLogs | SessionStore, id: string): OpenedLog | Promise<OpenedLog> {
  if (!('append' in store)) return store.open(id);
  return { records: [...readStore(store, id, undefined)], store };
}

function goOn({ records, store }: OpenedLog, { id, content, ...options }: OpenSessionOptions): Session {
  if (content === 'none') {
    throw new HoldfastError(
      'replay.failed',
      "A resumed log has content; use `content: 'none'` only for a new session.",
      { data: { reason: 'no_content' } },
    );
  }
  const session = replay(records, { ...options, store });
  if (id === undefined || session.id === id) return session;
  throw new HoldfastError(
    'session.invalid',
    `The log belongs to session \`${session.id}\`, not \`${id}\`; omit \`id\`, or use another log.`,
    { data: { reason: 'other_id', sessionId: session.id, expected: id } },
  );
}
