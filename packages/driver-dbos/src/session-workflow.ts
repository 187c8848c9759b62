import { DBOS } from '@dbos-inc/dbos-sdk';
import { type ApprovalAnswer, isHoldfastError, type RunStatus } from '@holdfast/core';
import { type AdvanceOptions, advance, answerApproval, pendingApprovals } from '@holdfast/executor';
import { openSession } from '@holdfast/session';

/** Runs a session to its end. Start it with the session's id as the workflow's. */
export type SessionWorkflow = (sessionId: string, input: string) => Promise<SessionResult>;

export interface SessionResult {
  readonly status: RunStatus;
  /** The last text of the model. */
  readonly text: string;
}

export interface SessionWorkflowOptions {
  /** Of the workflow; the same in every process. */
  readonly name: string;
  /** The run's, the same in every process. */
  readonly options: (sessionId: string) => Omit<AdvanceOptions, 'input'>;
  /** How often a step is tried while its database does not answer. Default 20 times, at first after a second. */
  readonly retry?: { readonly maxAttempts?: number; readonly intervalSeconds?: number; readonly backoffRate?: number };
}

/** The topic of `ApprovalMessage`. */
export const approvalTopic = 'holdfast-approval';

/** A person's answer: `DBOS.send(sessionId, message, approvalTopic)`, or `send` of a `DBOSClient`. */
export interface ApprovalMessage {
  /** Of the question, from `pendingApprovals`. */
  readonly callId: string;
  readonly digest: string;
  readonly answer: ApprovalAnswer;
  readonly by?: string;
}

type Progress =
  | ({ readonly type: 'done' } & SessionResult)
  | { readonly type: 'busy'; readonly leaseMs: number }
  | { readonly type: 'asks'; readonly expiresAtMs: number }
  | { readonly type: 'under-way' };

/**
 * Registers a workflow that runs sessions with `advance`, before `DBOS.launch`. Retries, timers, messages and cancellation are DBOS's; what
 * ran is in the session's log. Any message on `approvalTopic` makes it look again.
 */
export function registerSessionWorkflow({ name, options, retry }: SessionWorkflowOptions): SessionWorkflow {
  const step = { maxAttempts: 20, backoffRate: 1.5, ...retry, retriesAllowed: true, shouldRetry: isTransient };
  const run: SessionWorkflow = async (sessionId, input) => {
    for (;;) {
      const progress = await DBOS.runStep(() => toProgress(sessionId, { ...options(sessionId), input }), {
        ...step,
        name: 'advance',
      });
      if (progress.type === 'done') return { status: progress.status, text: progress.text };
      if (progress.type === 'busy') await DBOS.sleep(progress.leaseMs);
      if (progress.type !== 'asks') continue;
      const message = await DBOS.recv<ApprovalMessage>(approvalTopic, { deadlineEpochMS: progress.expiresAtMs });
      if (message === null) continue;
      await DBOS.runStep(() => record(message, sessionId, options(sessionId)), { ...step, name: 'answer' });
    }
  };
  return DBOS.registerWorkflow(run, { name });
}

/** Only what the workflow needs: its steps are kept by DBOS, and the rest is in the log. */
async function toProgress(sessionId: string, options: AdvanceOptions): Promise<Progress> {
  const cancelled = DBOS.stepStatus?.cancelSignal;
  const signals = [options.signal ?? [], cancelled ?? []].flat();
  const { done, waits, status, text = '' } = await advance(sessionId, { ...options, signal: AbortSignal.any(signals) });
  if (done && status !== undefined) return { type: 'done', status, text };
  const busy = waits.find(({ type }) => type === 'busy');
  if (busy?.type === 'busy') return { type: 'busy', leaseMs: busy.leaseMs ?? 1_000 };
  const expiries = waits.flatMap((wait) => (wait.type === 'approval' ? [wait.pending.expiresAtMs] : []));
  return expiries.length === 0 ? { type: 'under-way' } : { type: 'asks', expiresAtMs: Math.min(...expiries) };
}

/** Puts an answer into the log. Returns what became of it, for the list of steps. */
async function record(
  { callId, digest, answer, by }: ApprovalMessage,
  sessionId: string,
  { store, opening, clock }: Omit<AdvanceOptions, 'input'>,
): Promise<string> {
  const given = { ...(clock && { clock }) };
  const session = await openSession(store, { ...given, ...opening, id: sessionId });
  try {
    const asked = pendingApprovals(session).find((pending) => pending.callId === callId && pending.digest === digest);
    if (asked === undefined) return 'not asked';
    await answerApproval(session, asked, answer, { ...given, ...(by !== undefined && { by }) });
    return 'answered';
  } catch (thrown) {
    // The session has refused the message; the question stays open.
    if (isHoldfastError(thrown) && /^(approval|options)\./.test(thrown.code)) return thrown.message;
    throw thrown;
  } finally {
    await session.close();
  }
}

/** Another process has the session, or the database is away for a while. */
function isTransient(thrown: unknown): boolean {
  return isHoldfastError(thrown) && (thrown.code === 'log.locked' || thrown.reason === 'unreachable');
}
