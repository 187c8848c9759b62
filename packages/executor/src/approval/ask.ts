import type { ApprovalAnswer, Json, PendingApproval, PolicyDecision, PreparedCall } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogEntry } from '@holdfast/session';
import type { CallScope } from '../call/scope.ts';
import type { Approve } from '../call/types.ts';
import { toRecordedFacts } from '../facts/recorded.ts';
import { digestCall, digestTool } from './digest.ts';
import { sealCall } from './masked-calls.ts';

const unanswered = Symbol('unanswered');
const tooLate = Symbol('too late');
// Timers fire at once for a longer delay.
const maxTimerMs = 2_147_483_647;

/** Builds the question about a call that policies ask about. */
export async function toPending(
  call: PreparedCall,
  decisions: readonly PolicyDecision[],
  { scope, recorded, raw }: { readonly scope: CallScope; readonly recorded: Json; readonly raw: Json },
): Promise<PendingApproval> {
  const { id, tool } = call;
  const { parent, run, session, toolset, clock, approvalTimeoutMs } = scope;
  const hidesContent = session.content === 'none' && session.redactor === undefined;
  const compiled = toolset.byName.get(tool.name);
  const toolDigest = compiled === undefined ? '' : await digestTool(compiled);
  const facts = scope.facts?.madeOf(call);
  return Object.freeze({
    callId: id,
    ...(run === undefined ? {} : { run: run.startSeq, turn: run.turn }),
    ...(parent === undefined ? {} : { parentId: parent.call.id }),
    name: tool.name,
    input: recorded,
    dangerous: tool.dangerous,
    asks: Object.freeze(decisions.filter(({ type }) => type === 'ask')),
    ...(facts === undefined ? {} : { facts: toRecordedFacts(facts) }),
    // Without a key, a digest would let readers guess content that the log must not reveal.
    digest: hidesContent ? '' : await digestCall(call, { rawArguments: raw, toolDigest, scope }),
    toolDigest,
    expiresAtMs: clock.now() + approvalTimeoutMs,
  });
}

/** Records and emits the request. The arguments of a direct call are stored only here. */
export function reportRequest(
  { session, emit, run, parent }: CallScope,
  pending: PendingApproval,
  rawArguments: Json,
): void {
  const event = { type: 'approval-request', pending } as const;
  const direct = run === undefined && parent === undefined;
  const { callId: id, name } = pending;
  if (direct) sealCall(session, {}, { id, name, arguments: rawArguments });
  // JSON by construction; TypeScript cannot see that of an interface.
  session.record({ ...event, ...(direct ? { rawArguments } : {}) } as unknown as LogEntry);
  emit?.(event);
}

/** An answer and who gave it: `host` if asking failed and that counts as a denial. */
export interface Answered {
  readonly answer: ApprovalAnswer;
  readonly by: string;
}

/** Asks the host. `undefined`: the run ended first; `expired`: the question expired first; `later`: the call is suspended. */
export async function askHost(
  approve: Approve,
  pending: PendingApproval,
  { lifetime, clock }: CallScope,
): Promise<Answered | 'expired' | 'later' | undefined> {
  let stopListening: () => void = () => undefined;
  let stopTimer: () => void = () => undefined;
  const ended = new Promise<typeof unanswered | typeof tooLate>((resolve) => {
    stopListening = lifetime.onEnd(() => resolve(unanswered));
    const wait = (): void => {
      const leftMs = pending.expiresAtMs - clock.now();
      // Set again if the time is longer than the longest timer.
      if (leftMs <= 0) resolve(tooLate);
      else stopTimer = clock.after(Math.min(leftMs, maxTimerMs), wait);
    };
    wait();
  });
  try {
    const answer = await Promise.race([approve(pending), ended]);
    if (answer === unanswered) return undefined;
    if (answer === tooLate) return 'expired';
    if (answer?.type === 'later') return 'later';
    const read = readAnswer(answer, pending);
    return { answer: read, by: read === noAnswer ? 'host' : 'person' };
  } catch (thrown) {
    return { answer: { type: 'deny', reason: `asking failed: ${describeThrown(thrown)}` }, by: 'host' };
  } finally {
    stopListening();
    stopTimer();
  }
}

const noAnswer: ApprovalAnswer = Object.freeze({
  type: 'deny',
  reason: 'the answer was neither `approve` nor `deny`',
});

/** Denies anything but a plain approval. Drops the grant if the question is not grantable. */
export function readAnswer(answer: unknown, { asks }: PendingApproval): ApprovalAnswer {
  if (typeof answer === 'object' && answer !== null && 'type' in answer) {
    const { type } = answer;
    if (type === 'approve') {
      const grants = 'grant' in answer && answer.grant === true;
      return { type, grant: grants && asks.every(({ grantable }) => grantable !== false) };
    }
    const reason: unknown = 'reason' in answer ? answer.reason : undefined;
    if (type === 'deny') return typeof reason === 'string' && reason !== '' ? { type, reason } : { type };
  }
  return noAnswer;
}
