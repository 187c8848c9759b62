import { readExpansion, retryDelayMs, toRetry } from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import type { Enterable } from './conduct-call.ts';
import { withEarlierDoubt } from './earlier-doubt.ts';
import { type Ending, readAnswer, saysFailed, withDoubt } from './ending.ts';
import { type Invoked, invoke, waitForAnswer } from './invoke.ts';
import { learnReturned } from './secrets.ts';
import { discardResources } from './settle.ts';

/** What the last attempt of a call came to: an answer that is to be concluded, or how the call ends. */
export type LastAttempt =
  | { readonly type: 'answered'; readonly invoked: Invoked; readonly entered: Enterable }
  | { readonly type: 'ended'; readonly ending: Ending };

/** How often a tool is run in one call, as long as it fails. */
export interface Attempts {
  /** At most, the first included. */
  readonly count: number;
  /** After the attempt of that number. */
  delayMs(attempt: number): number;
  /** Also where the time of an attempt was over, and the tool has stopped before the next. */
  readonly afterTimeout: boolean;
}

/** `undefined`: once. What the caller asks for comes before what the tool declares. */
export function attemptsOf({ tool, scope: { manner } }: Enterable): Attempts | undefined {
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
 * Runs the tool of a call again as long as it fails, as often as `attempts` say and the time of the call lasts. Every attempt has a
 * transaction and a context of its own, begun on the state as it is then; of those before the last one nothing is left.
 */
export async function attemptAgain(answer: Invoked, first: Enterable, attempts: Attempts): Promise<LastAttempt> {
  const { trail, scope } = first;
  let invoked = answer;
  let entered = first;
  for (let attempt = 1; attempt < attempts.count; attempt += 1) {
    const failed = findFailure(invoked, entered, attempts);
    const delayMs = attempts.delayMs(attempt);
    if (failed === undefined || timeLeftMs(entered) <= delayMs) break;
    const rolledBack = await rollBack(failed, entered);
    if (rolledBack !== failed) return { type: 'ended', ending: rolledBack };

    const { code = 'tool.failed', message } = failed;
    const failedAt = { code, message, atMs: scope.clock.now() };
    scope.emit?.({
      type: 'tool-call-retry',
      callId: trail.call.id,
      parentId: scope.parent?.call.id,
      name: trail.call.name,
      attempt,
      code,
      message,
      delayMs,
      atMs: failedAt.atMs,
    });
    await pause(delayMs, scope);
    // One that has not stopped meanwhile, as a process may take a moment to, would go on beside the next.
    const goesOn = invoked.type === 'stopped' && !invoked.hasStopped();
    const next = goesOn ? undefined : enterAgain(entered);
    // Its time is over: the last word is that of this attempt.
    if (next === undefined) return { type: 'ended', ending: failed };
    trail.retries = [...(trail.retries ?? []), failedAt];
    entered = next;
    const invoking = invoke(entered.tool, entered.resources);
    const awaited = await invoking;
    invoked = awaited.type === 'unstoppable' ? await waitForAnswer(awaited) : awaited;
  }
  return { type: 'answered', invoked, entered };
}

/** How the call would end as it is, where that may be followed by another attempt. */
function findFailure(
  invoked: Invoked,
  { compiled, trail, scope, resources }: Enterable,
  { afterTimeout }: Attempts,
): Ending | undefined {
  // What a nested call did to the world stays, and the next attempt would do it once more.
  if (resources.reachedOutside) return undefined;
  const outOfTime = invoked.type === 'stopped' && invoked.by === 'attempt';
  if (outOfTime ? !afterTimeout : !saysFailed(invoked)) return undefined;
  // Sections have to be opened for it.
  if (invoked.type === 'threw' && readExpansion(invoked.thrown) !== undefined) return undefined;
  if (invoked.type === 'returned') learnReturned(scope.session.redactor, compiled, invoked.value);
  const ending = withEarlierDoubt(withDoubt(readAnswer(invoked, compiled), compiled.tool, trail), trail, true);
  return ending.kind === (outOfTime ? 'timed-out' : 'failed') ? ending : undefined;
}

/** For further attempts, the pauses before them included. */
function timeLeftMs({ resources, trail, scope }: Enterable): number {
  const leftMs = resources.time?.leftMs ?? Number.POSITIVE_INFINITY;
  if (scope.lifetime.ended !== undefined) return 0;
  return Math.min(leftMs + idleMs({ trail, scope }), scope.lifetime.deadline.remainingMs());
}

/** What a call that began early has waited for its turn with its first attempt done: no part of the tool's time. */
function idleMs({ trail, scope }: Pick<Enterable, 'trail' | 'scope'>): number {
  return trail.finishedAtMs === undefined ? 0 : Math.max(0, scope.clock.now() - trail.finishedAtMs);
}

/** Drops what an attempt did and ends what it left going. Answers with `failed`, or with what came of not being able to. */
async function rollBack(failed: Ending, { resources, transaction, trail, scope }: Enterable): Promise<Ending> {
  const idle = idleMs({ trail, scope });
  resources.time?.credit(idle);
  if (trail.finishedAtMs !== undefined) {
    trail.waitedMs = idle;
    trail.finishedAtMs = undefined;
  }
  resources.stop('aborted');
  resources.seal();
  transaction.discard();
  const ending = await discardResources(failed, resources);
  await resources.dispose();
  return ending;
}

/** The next attempt at the same call; `undefined` when its time is over. */
function enterAgain(entered: Enterable): Enterable | undefined {
  if (timeLeftMs(entered) <= 0) return undefined;
  const transaction = entered.scope.state.begin();
  return { ...entered, transaction, resources: entered.resources.again(transaction) };
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
