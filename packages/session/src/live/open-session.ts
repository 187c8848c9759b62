import { HoldfastError, systemClock } from '@holdfast/core';
import { abandonStore, type OpenedLog, readStore, type SessionLogs, type SessionStore } from '../log/log.ts';
import { checkOpening } from './check-options.ts';
import { createSessionId } from './id.ts';
import { createSession } from './live-session.ts';
import { replay } from './replay.ts';
import type { Session, SessionOptions } from './session.ts';

/** `nonce` and the default of `id` are for a session that is made. */
export type OpenSessionOptions = Omit<SessionOptions, 'store'>;

/**
 * Opens the session `id` of a store: makes it when the store does not have it, else rebuilds it from its log and goes on after the last
 * record. A fork is rebuilt by `replay`, which takes the session that it was forked from.
 *
 * @throws HoldfastError `options.invalid`; `session.other_id` when the log is that of another session; those of the store, as
 * `log.locked` and `log.chain`; those of `replay`, with `replay.no_content` also when `content: 'none'` is asked of a log that has
 * content. The log is closed then.
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
      'replay.no_content',
      "A log that is gone on with has content, so `content: 'none'` is for a new session.",
    );
  }
  const session = replay(records, { ...options, store });
  if (id === undefined || session.id === id) return session;
  throw new HoldfastError(
    'session.other_id',
    `The log is that of the session \`${session.id}\`, not of \`${id}\`; leave \`id\` out, or give the session a log of its own.`,
    { data: { sessionId: session.id, expected: id } },
  );
}
