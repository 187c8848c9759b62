import type { ToolCallEndEvent } from '@holdfast/core';
import { retryDelayMs, toRetry } from '@holdfast/core/internal';
import { learnReturned, saysFailed, thrownCode, withDoubt } from '../call/ending.ts';
import { answerOf, concludeAttempt, execute } from '../call/run-call.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { readAnswer, recordEnd } from '../call/settle.ts';
import type { Ending, Invoked } from '../call/types.ts';
import { discardResources, disposeResources } from '../resources/staged.ts';

/** How often a tool is run in one call, as long as it fails. */
interface Attempts {
  /** At most, the first included. */
  readonly count: number;
  /** After the attempt of that number. */
  delayMs(attempt: number): number;
  /** Also where the time of an attempt was over, and the tool has stopped before the next. */
  readonly afterTimeout: boolean;
}

/** `undefined`: once. What the caller asks for comes before what the tool declares. */
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
 * Ends a call whose tool may be run again where it failed: as often as it may, and the time of the call lasts. Every attempt has a
 * transaction and a context of its own, begun on the state as it is then; of those before the last one nothing is left.
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

    const { code = 'tool.failed', message } = failed;
    const failedAt = { code, message, atMs: scope.clock.now() };
    scope.emit?.({
      type: 'tool-call-retry',
      callId: source.id,
      parentId: scope.parent?.call.id,
      name: source.name,
      attempt,
      code,
      message,
      delayMs,
      atMs: failedAt.atMs,
    });
    await pause(delayMs, scope);
    // One that has not stopped meanwhile, as a process may take a moment to, would go on beside the next; or its time is over: the
    // last word is that of this attempt.
    if ((invoked.type === 'stopped' && !invoked.hasStopped()) || timeLeftMs(call) <= 0) return recordEnd(failed, call);
    call.retries = [...(call.retries ?? []), failedAt];
    call = call.again();
    invoked = await answerOf(execute(call));
  }
  return concludeAttempt(invoked, call);
}

/** How the call would end as it is, where that may be followed by another attempt. */
function findFailure(invoked: Invoked, call: RunningCall, { afterTimeout }: Attempts): Ending | undefined {
  // What a nested call did to the world stays, and the next attempt would do it once more.
  if (call.reachedOutside) return undefined;
  const outOfTime = invoked.type === 'stopped' && invoked.by === 'attempt';
  if (outOfTime ? !afterTimeout : !saysFailed(invoked)) return undefined;
  // Sections have to be opened for it.
  if (invoked.type === 'threw' && thrownCode(invoked.thrown, '') === 'visibility.expansion_required') return undefined;
  const { compiled, scope } = call;
  if (invoked.type === 'returned') learnReturned(scope.session.redactor, compiled, invoked.value);
  const doubted = withDoubt(readAnswer(invoked, compiled), compiled.tool, call);
  const ending = scope.resuming === undefined ? doubted : scope.resuming.doubt(doubted, call, true);
  return ending.kind === (outOfTime ? 'timed-out' : 'failed') ? ending : undefined;
}

/** For further attempts, the pauses before them included. */
function timeLeftMs(call: RunningCall): number {
  const { time, scope } = call;
  const leftMs = time?.leftMs ?? Number.POSITIVE_INFINITY;
  if (scope.lifetime.ended !== undefined) return 0;
  return Math.min(leftMs + idleMs(call), scope.lifetime.deadline.remainingMs());
}

/** What a call that began early has waited for its turn with its first attempt done: no part of the tool's time. */
function idleMs({ finishedAtMs, scope }: RunningCall): number {
  return finishedAtMs === undefined ? 0 : Math.max(0, scope.clock.now() - finishedAtMs);
}

/** Drops what an attempt did and ends what it left going. Answers with `failed`, or with what came of not being able to. */
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

/** Waits, but not beyond the end of the call's time. */
async function pause(delayMs: number, { clock, lifetime }: CallScope): Promise<void> {
  if (delayMs === 0) return;
  let stopTimer: () => void = () => undefined;
  let stopListening: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    stopTimer = clock.after(delayMs, resolve);
    stopListening = lifetime.onEnd(() => resolve());
  });
  stopTimer();
  stopListening();
}
