import { HoldfastError, systemClock } from '@holdfast/core';
import { leaveStore, type OpenedLog, readStore, type SessionLogs, type SessionStore } from '../log/log.ts';
import { checkOpening } from './check-options.ts';
import { createSessionId } from './id.ts';
import { createSession } from './live-session.ts';
import { replay } from './replay.ts';
import type { Session, SessionOptions } from './session.ts';

/** `nonce` and the default `id` apply to new sessions. */
export interface OpenSessionOptions extends Omit<SessionOptions, 'store'> {
  /** Gives up the staged changes that only this machine has, on a person's word: its name, from `resource.elsewhere`. */
  readonly abandon?: string;
}

/**
 * Opens the session `id` of a store: creates it if the store does not have it, else rebuilds it from its log and continues after the
 * last record. To rebuild a fork, use `replay`, which takes the session it was forked from.
 *
 * @throws HoldfastError `options.invalid`; `session.invalid` if the log belongs to another session; the errors of the store, such as
 * `log.locked` and `log.damaged`; `resource.elsewhere` if another machine has staged changes; the errors of `replay`, with
 * `replay.failed` also for `content: 'none'` on a log with content.
 * The log is then closed.
 */
export async function openSession(
  store: SessionLogs | SessionStore,
  options: OpenSessionOptions = {},
): Promise<Session> {
  checkOpening(store, options);
  const { id = createSessionId((options.clock ?? systemClock).now()) } = options;
  const opened = await openLog(store, id);
  const { abandon: _abandon, ...rest } = options;
  if (opened.records.length === 0) return createSession({ ...rest, id, store: opened.store });
  try {
    return goOn(opened, options);
  } catch (thrown) {
    await leaveStore(opened.store);
    throw thrown;
  }
}

function openLog(store: SessionLogs | SessionStore, id: string): OpenedLog | Promise<OpenedLog> {
  if (!('append' in store)) return store.open(id);
  return { records: [...readStore(store, id, undefined)], store };
}

function goOn({ records, store }: OpenedLog, { id, content, abandon, ...options }: OpenSessionOptions): Session {
  if (content === 'none') {
    throw new HoldfastError(
      'replay.failed',
      "A resumed log has content; use `content: 'none'` only for a new session.",
      { data: { reason: 'no_content' } },
    );
  }
  const session = replay(records, { ...options, store });
  if (id === undefined || session.id === id) {
    if (abandon !== undefined) session.record({ type: 'resources-abandoned', host: abandon });
    checkStaged(session);
    return session;
  }
  throw new HoldfastError(
    'session.invalid',
    `The log belongs to session \`${session.id}\`, not \`${id}\`; omit \`id\`, or use another log.`,
    { data: { reason: 'other_id', sessionId: session.id, expected: id } },
  );
}

/** @throws HoldfastError `resource.elsewhere` if changes of staged resources are on another machine, which may have to apply them. */
function checkStaged(session: Session): void {
  const { host: here = null } = session;
  const elsewhere = session.openWork().staged?.filter(({ host }) => host !== here) ?? [];
  const host = elsewhere[0]?.host;
  if (host === undefined) return;
  const resources = [...new Set(elsewhere.flatMap((staged) => (staged.host === host ? staged.resources : [])))];
  const names = resources.map((name) => `\`${name}\``).join(', ');
  throw new HoldfastError(
    'resource.elsewhere',
    `The machine \`${host}\` has changes of ${names} that the log counts and that it may not have applied; continue the session there, or give them up with \`abandon: '${host}'\`.`,
    { data: { sessionId: session.id, host, here, resources } },
  );
}
