import type { ToolCallEndEvent } from '@holdfast/core';
import { isToolResult, retryDelayMs, toProblem, toRetry, within } from '@holdfast/core/internal';
import { learnReturned, withDoubt } from '../call/ending.ts';
import { answerOf, concludeAttempt, execute } from '../call/run-call.ts';
import type { RunningCall } from '../call/running-call.ts';
import { readAnswer, recordEnd } from '../call/settle.ts';
import type { Ending, Invoked } from '../call/types.ts';
import { discardResources, disposeResources } from '../resources/staged.ts';

/** How often a failing tool runs in one call. */
interface Attempts {
  /** The maximum, including the first. */
  readonly count: number;
  /** The delay after the attempt of that number. */
  delayMs(attempt: number): number;
  /** Also retry after a timeout, once the tool has stopped. */
  readonly afterTimeout: boolean;
}

/** `undefined` for a single attempt. The caller's overrides take precedence over the tool's declaration. */
function attemptsOf({ call: { tool }, scope: { manner } }: RunningCall): Attempts | undefined {
  const { retry, repeat } = tool;
  const count = manner?.attempts ?? retry?.attempts ?? 1;
  if (count === 1 || repeat === 'never') return undefined;
  const backOff = retry ?? defaultBackOff;
  return {
    count,
    delayMs: (attempt) => manner?.delaysMs?.[attempt - 1] ?? retryDelayMs(backOff, attempt),
    afterTimeout: manner?.attempts !== undefined && repeat === 'safe',
  };
}

const defaultBackOff = toRetry({ attempts: 2 });

/**
 * Ends a call whose tool may be retried, within its attempts and its time. Every attempt has its own transaction and context, begun
 * on the current state; failed attempts leave nothing.
 */
export function retry(answer: Invoked, first: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  const attempts = attemptsOf(first);
  return attempts === undefined ? concludeAttempt(answer, first) : attemptAgain(answer, first, attempts);
}

async function attemptAgain(answer: Invoked, first: RunningCall, attempts: Attempts): Promise<ToolCallEndEvent> {
  const { scope, source } = first;
  let invoked = answer;
  let call = first;
  for (let attempt = 1; attempt < attempts.count; attempt += 1) {
    const failed = findFailure(invoked, call, attempts);
    const delayMs = attempts.delayMs(attempt);
    if (failed === undefined || timeLeftMs(call) <= delayMs) break;
    const rolledBack = await rollBack(failed, call);
    if (rolledBack !== failed) return recordEnd(rolledBack, call);

    const { code = 'tool.failed', reason, message } = failed;
    const failedAt = { code, reason, message, atMs: scope.clock.now() };
    scope.emit?.({
      type: 'tool-call-retry',
      callId: source.id,
      parentId: scope.parent?.call.id,
      name: source.name,
      attempt,
      code,
      reason,
      message,
      delayMs,
      atMs: failedAt.atMs,
    });
    if (delayMs > 0) {
      const { clock, lifetime: until } = scope;
      await within(new Promise<undefined>(() => undefined), {
        until,
        limit: { clock, ms: delayMs },
        over: () => undefined,
      });
    }
    // A tool that has not stopped by now, such as a slow process, would overlap with the next attempt.
    if ((invoked.type === 'stopped' && !invoked.hasStopped()) || timeLeftMs(call) <= 0) return recordEnd(failed, call);
    call.retries = [...(call.retries ?? []), failedAt];
    call = call.again();
    invoked = await answerOf(execute(call));
  }
  return concludeAttempt(invoked, call);
}

/** The ending of a failed attempt that may be followed by another. */
function findFailure(invoked: Invoked, call: RunningCall, { afterTimeout }: Attempts): Ending | undefined {
  // External effects of a nested call remain, and the next attempt would repeat them.
  if (call.reachedOutside) return undefined;
  const outOfTime = invoked.type === 'stopped' && invoked.by === 'attempt';
  if (outOfTime ? !afterTimeout : !saysFailed(invoked)) return undefined;
  // Needs a section to be opened, not another attempt.
  if (invoked.type === 'threw' && toProblem(invoked.thrown, { code: '' }, '').code === 'visibility.expansion_required')
    return undefined;
  const { compiled, scope } = call;
  if (invoked.type === 'returned') learnReturned(scope.session.redactor, compiled, invoked.value);
  const doubted = withDoubt(readAnswer(invoked, compiled, call.preparing), compiled.tool, call);
  const ending = scope.resuming === undefined ? doubted : scope.resuming.doubt(doubted, call, true);
  return ending.kind === (outOfTime ? 'timed-out' : 'failed') ? ending : undefined;
}

/** For further attempts, including the delays before them. */
function timeLeftMs(call: RunningCall): number {
  const { time, scope } = call;
  const leftMs = time?.leftMs ?? Number.POSITIVE_INFINITY;
  if (scope.lifetime.ended !== undefined) return 0;
  return Math.min(leftMs + idleMs(call), scope.lifetime.deadline.remainingMs());
}

/** How long an early call waited for its turn after its first attempt; not part of the tool's time. */
function idleMs({ finishedAtMs, scope }: RunningCall): number {
  return finishedAtMs === undefined ? 0 : Math.max(0, scope.clock.now() - finishedAtMs);
}

/** Discards an attempt and stops its leftover work. Returns `failed`, or an ending that says why discarding failed. */
async function rollBack(failed: Ending, call: RunningCall): Promise<Ending> {
  const idle = idleMs(call);
  call.time?.credit(idle);
  if (call.finishedAtMs !== undefined) {
    call.waitedMs = idle;
    call.finishedAtMs = undefined;
  }
  call.stop('aborted');
  call.seal();
  call.written?.discard();
  const ending = await discardResources(failed, call);
  await disposeResources(call);
  return ending;
}

/** True if the tool reported the failure itself: it threw or returned `toolError`. */
function saysFailed(invoked: Invoked): boolean {
  if (invoked.type !== 'returned') return invoked.type === 'threw';
  try {
    return isToolResult(invoked.value) && !invoked.value.success;
  } catch {
    // The result has throwing getters.
    return false;
  }
}
