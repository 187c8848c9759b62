import {
  HoldfastError,
  isHoldfastError,
  type PendingApproval,
  type RunEvent,
  type RunStatus,
  systemClock,
} from '@holdfast/core';
import type { OptionRules } from '@holdfast/core/internal';
import { type OpenSessionOptions, openSession, type Session, type SessionLogs } from '@holdfast/session';
import type { OpenRun } from '@holdfast/session/internal';
import { checkRunOptions } from '../direct/options.ts';
import { continueRun } from '../recovery/resume-run.ts';
import { EventStream } from '../run/event-stream.ts';
import { beginRun, checkRounds, type RunAgentOptions, toPrompt } from '../run/run-agent.ts';

/** Options of `advance`: those of the run, the same on every machine, and where its session is kept. */
export interface AdvanceOptions<Output = unknown> extends Omit<RunAgentOptions<Output>, 'session' | 'input'> {
  /** A store that the machines share, such as `postgresStore`. */
  readonly store: SessionLogs;
  /** The user's request, for a session that has no run yet. A session has one run: another request needs another session. */
  readonly input?: string;
  /** Messages of the model until `advance` returns although the run is not done. Integer, at least 1. Default: none. */
  readonly maxTurns?: number;
  /** How the session is opened: `slices`, `redactor` and others of `openSession`. */
  readonly opening?: Omit<OpenSessionOptions, 'id'>;
}

/** The reason why a run waits. */
export type Wait =
  /** A person's answer: `answerApproval` on the session, in any process. */
  | { readonly type: 'approval'; readonly pending: PendingApproval }
  /** Another writer has the session. `leaseMs`: until its lease ends, if the store knows; call again then. */
  | { readonly type: 'busy'; readonly holder?: string; readonly leaseMs?: number };

/** How far a run came. Neither done nor waiting: call `advance` again. */
export interface Advanced {
  readonly done: boolean;
  /** Not empty only if the run is not done. */
  readonly waits: readonly Wait[];
  /** Of a run that is done: how it ended, and the last text of the model. */
  readonly status?: RunStatus;
  readonly text?: string;
}

const own: OptionRules = { session: 'any', store: 'object!', input: 'text', maxTurns: 'any', opening: 'object' };

/**
 * Runs a session until its run is done, waits, or has made `maxTurns` messages, and closes it again. Safe to call again after any crash,
 * from any machine: the log decides what has run already. Calls meanwhile get `busy`. A call that another machine began and did not end
 * is handled as by `resumeRun`.
 *
 * @throws HoldfastError `options.invalid`, and as `openSession` and `resumeRun`.
 */
export async function advance<Output = undefined>(
  sessionId: string,
  options: AdvanceOptions<Output>,
): Promise<Advanced> {
  checkRunOptions('advance', options, own);
  const { store, maxTurns, opening, clock } = options;
  if (maxTurns !== undefined && !(Number.isInteger(maxTurns) && maxTurns >= 1)) {
    throw new HoldfastError('options.invalid', `\`maxTurns\` must be a positive integer, got ${maxTurns}.`);
  }
  checkRounds(options);
  let session: Session;
  try {
    session = await openSession(store, { ...(clock && { clock }), ...opening, id: sessionId });
  } catch (thrown) {
    return toBusy(thrown);
  }
  return whileOpen(session, () => work(session, options));
}

/** Closes the session afterwards. What this machine did not record before it lost the session is for the next one. */
async function whileOpen(session: Session, use: () => Promise<Advanced>): Promise<Advanced> {
  let advanced: Advanced;
  try {
    advanced = await use();
    await session.sync();
  } catch (thrown) {
    await session.close().catch((closing: unknown) => {
      if (session.lost?.aborted !== true) throw new AggregateError([thrown, closing]);
    });
    return session.lost?.aborted === true ? toBusy(session.lost.reason) : toBusy(thrown);
  }
  await session.close();
  return advanced;
}

/** @throws what was thrown, unless another writer has the session. */
function toBusy(thrown: unknown): Advanced {
  if (!isHoldfastError(thrown) || thrown.code !== 'log.locked') throw thrown;
  const data = (thrown.data ?? {}) as { readonly holder?: unknown; readonly leaseMs?: unknown };
  const { holder, leaseMs } = data;
  const known = {
    ...(typeof holder === 'string' && { holder }),
    ...(typeof leaseMs === 'number' && { leaseMs }),
  };
  return { done: false, waits: [{ type: 'busy', ...known }] };
}

async function work<Output>(session: Session, options: AdvanceOptions<Output>): Promise<Advanced> {
  const { store: _store, opening: _opening, maxTurns, input, ...rest } = options;
  const { clock = systemClock } = options;
  const open = session.openWork().runs.at(-1);
  const unanswered = open === undefined ? [] : findUnanswered(session, open, clock.now());
  if (unanswered.length > 0) return waitingFor(unanswered);
  const ended = open === undefined ? findEnd(session) : undefined;
  if (ended !== undefined) return ended;
  if (open === undefined && input === undefined) {
    throw new HoldfastError(
      'options.invalid',
      `The session \`${session.id}\` has no run yet; pass \`input\`, the user's request, to begin it.`,
      { data: { option: 'input', reason: 'missing' } },
    );
  }
  const parts = {
    ...checkRounds(rest),
    session,
    prompt: toPrompt(options),
    ...(maxTurns !== undefined && { turns: maxTurns }),
  };
  const stream = new EventStream<RunEvent>();
  const result = open
    ? await continueRun({ ...parts, run: open.run }, stream)
    : await beginRun({ ...parts, input: input ?? '' }, stream);
  if (result.status !== 'suspended') return { done: true, waits: [], status: result.status, text: result.text };
  return waitingFor(result.pending);
}

/** The questions of a suspended run as long as none of them is answered or expired: resuming it would only ask them again. */
function findUnanswered(session: Session, { run, suspended }: OpenRun, nowMs: number): readonly PendingApproval[] {
  if (!suspended) return [];
  const asked = session.openWork().calls.filter((call) => call.run === run && call.approvals.length > 0);
  const last = asked.flatMap(({ approvals }) => approvals.at(-1) ?? []);
  const waits = last.every(({ answer, pending }) => answer === undefined && nowMs < pending.expiresAtMs);
  return waits ? last.map(({ pending }) => pending) : [];
}

function waitingFor(pending: readonly PendingApproval[]): Advanced {
  return { done: false, waits: pending.map((question) => ({ type: 'approval', pending: question })) };
}

/** The end of the session's run, if it has ended. */
function findEnd(session: Session): Advanced | undefined {
  let ended: Advanced | undefined;
  for (const record of session.records()) {
    if (record.type !== 'run-end') continue;
    // Written by `endRun`.
    const { status, text } = record as unknown as { readonly status: RunStatus; readonly text: string };
    ended = { done: true, waits: [], status, text };
  }
  return ended;
}
