import { HoldfastError, type Outcome } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { OpenRun } from '@holdfast/session/internal';
import { claimRun } from '../approval/claims.ts';
import { checkContent, takeCalls } from '../approval/masked-calls.ts';
import { begin, finish } from '../call/run-call.ts';
import type { CallOptions, CallScope } from '../call/scope.ts';
import { recordEnd } from '../call/settle.ts';
import type { IdentifiedCall } from '../call/types.ts';
import { openScope } from '../direct/features.ts';
import { checkRunOptions } from '../direct/options.ts';
import { recoverResources } from '../resources/recover.ts';
import { cutBy } from '../run/cut-message.ts';
import { runLoop } from '../run/loop.ts';
import { note, type RunResult } from '../run/result.ts';
import {
  type AgentRun,
  type Checked,
  checkRounds,
  openRunScope,
  Run,
  type RunAgentOptions,
  type RunParts,
  type RunStream,
  toPrompt,
} from '../run/run-agent.ts';
import type { OpenTurn } from '../run/transcript.ts';
import { isSameCall } from '../turn/run-calls.ts';
import { isBegun, neverBegan, recoverCall } from './recover-call.ts';
import { resuming } from './resuming.ts';
import { readTranscript } from './transcript.ts';

/** Options of `resumeRun`: those of the run, passed again. `maxRounds` includes earlier messages; a budget covers only new ones. */
export interface ResumeRunOptions<Output = unknown> extends Omit<RunAgentOptions<Output>, 'input' | 'session'> {
  readonly session: CallOptions['session'];
  /** The run's number in its records. Default: the last open run of the session. */
  readonly run?: number;
}

/**
 * Resumes a suspended or interrupted run. The conversation is read from the session's log, and finished calls are not run again.
 * Answered calls run in order, after the policies have run again; the run is suspended again at the first unanswered question.
 *
 * After a crash, changes of staged resources are completed or rolled back from the log. A call that had begun runs again with the same
 * idempotency key if its tool allows that (`repeat`); otherwise it ends `in-doubt`, unless its `probe` or a person (`resolveCall`) knows
 * the result. A call that had neither begun nor been approved ends `cancelled`.
 *
 * @throws HoldfastError `options.invalid`; `result` rejects with `work.not_open`, `work.under_way`, `log.unreadable`, `replay.failed`, and as that of `runAgent`.
 */
export function resumeRun<Output = undefined>(options: ResumeRunOptions<Output>): AgentRun<Output> {
  checkRunOptions('resumeRun', options, { run: 'any' });
  // `context.child()` returns a session whose type in core has fewer members.
  const session = options.session as Session;
  const checked = { ...checkRounds(options), session, prompt: toPrompt(options) };
  return new Run<Output>(session, (stream) => continueRun(checked, stream));
}

/** Resumes a run and returns how it ended. */
export async function continueRun(
  options: Checked<RunParts> & { readonly run?: number },
  stream: RunStream,
): Promise<RunResult> {
  const { model, prompt, maxRounds, turns, session } = options;
  const open = findRun(session, options.run);
  const release = claimRun(session, open.run);
  try {
    const transcript = readTranscript(session, open);
    const request = transcript.messages[0]?.text ?? '';
    const { page, scope } = openRunScope({ ...options, request }, stream, openScope);
    try {
      await recoverResources(scope);
      const position = { startSeq: open.run, turn: transcript.turns };
      note(scope, { type: 'run-resume', run: open.run, turn: position.turn, atMs: scope.clock.now() });
      const started = { ...scope, run: position, prompt, model };
      const turn =
        transcript.open && (await recoverTurn(transcript.open, open, scope.features.bindPage(started, page.rendered)));
      const known = turn === undefined ? transcript : { ...transcript, open: turn };
      return await runLoop({ model, prompt, maxRounds, turns, page, scope, position, transcript: known, resuming });
    } finally {
      scope.lifetime.dispose();
    }
  } finally {
    release();
  }
}

function findRun(session: Session, run: number | undefined): OpenRun {
  checkContent(session);
  const { runs } = session.openWork();
  const found = run === undefined ? runs.at(-1) : runs.find((open) => open.run === run);
  if (found !== undefined) return found;
  throw new HoldfastError(
    'work.not_open',
    run === undefined
      ? `The session \`${session.id}\` has no suspended or interrupted run to resume.`
      : `The run ${run} of the session \`${session.id}\` has ended or does not exist.`,
    { data: { reason: 'run', sessionId: session.id, ...(run === undefined ? {} : { run }) } },
  );
}

/** Ends interrupted calls in order. */
async function recoverTurn(turn: OpenTurn, { run, suspended }: OpenRun, scope: CallScope): Promise<OpenTurn> {
  const settled = new Map<number, Outcome>(turn.settled);
  const calls = takeCalls(scope.session, { run, turn: turn.turn }, turn.calls);
  const firsts = new Map<string, IdentifiedCall>();
  for (const [index, call] of calls.entries()) {
    if (settled.has(index)) {
      if (!firsts.has(call.id)) firsts.set(call.id, call);
      continue;
    }
    const first = firsts.get(call.id);
    // A duplicate shares the outcome of the first.
    if (first !== undefined && isSameCall(first, call)) continue;
    if (first === undefined) firsts.set(call.id, call);
    const open = scope.session.openCall({ run, turn: turn.turn, callId: call.id });
    const outcome = isBegun(open)
      ? await recoverCall(call, open, scope)
      : open === undefined && !suspended && cutBy(turn.reason) === undefined
        ? await finish(recordEnd(neverBegan(call), begin(call, scope)), scope)
        : undefined;
    if (outcome !== undefined) settled.set(index, outcome);
  }
  return { ...turn, calls, settled };
}
