import { type Ask, systemClock, type Tool } from '@holdfast/core';
import { type Caller, type CallOptions, openCaller } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { type ForeseenAnswer, foreseeAnswers } from './answers.ts';
import { PolicyQuestions } from './questions.ts';
import { type AheadSurroundings, type ExpectedCall, freezeInput, type NamedCall, unknownFilesystem } from './watch.ts';

export interface ForeseeOptions
  extends Pick<CallOptions, 'tools' | 'policies' | 'grants' | 'facts' | 'clock'>,
    Partial<Pick<CallOptions, 'session'>> {
  /** What the host will bind. Absent: that is not known, and a policy that looks at files knows nothing. */
  readonly resources?: CallOptions['resources'];
  /** How long each policy may take for all that it is asked here, in milliseconds; what it has not answered is not known. Default 5,000. */
  readonly policyTimeoutMs?: number;
}

/** What is known of a call before it is made. */
export interface ForeseenCall {
  /** By which policies it is denied, whatever becomes of the calls before it; in the order of the policies, with the reasons. */
  readonly denials: readonly { readonly policy: string; readonly reason: string }[];
  /**
   * Why a person will be asked, if the calls before it in the list succeed and it comes to it: the policies' reasons, in order, then
   * that of the dangerous gate. Empty: nobody is, as far as is known.
   */
  readonly asks: readonly string[];
}

/**
 * Asks the policies and the dangerous gate about calls that may be made later, in the order of `calls`. Nothing runs, and nothing is
 * recorded, staged or changed: policies are told of successes that have not been, in a fork of the session that nobody sees.
 *
 * A denial is reported when no way in which the calls may go lifts it. A policy without state denies so when it has looked at
 * nothing but the call; where the input is not known, not at that either. Also by throwing. A policy with state has to deny in every
 * state that successes of the calls lead to that can come before; where there are too many, or where a success cannot be told without
 * its result, nothing is reported. Policies that are `timed` deny nothing for sure, nor does one that takes too long, nor one that keeps
 * something of calls in doubt (`reserve`) where there may be such. Calls that a tool makes itself are not foreseen.
 *
 * @throws HoldfastError as `executeToolCall`, for a wrong configuration.
 */
export async function foreseeCalls(
  calls: readonly ExpectedCall[],
  { resources, session, ...options }: ForeseeOptions,
): Promise<readonly ForeseenCall[]> {
  const caller = openCaller({
    ...options,
    ...(resources === undefined ? {} : { resources }),
    session: session ?? createSession(options.clock === undefined ? {} : { clock: options.clock }),
  });
  try {
    for (const { input } of calls) freezeInput(input);
    const named = calls.map((call, place) => ({ ...call, id: `ahead_${place}` }));
    return named.length === 0 ? [] : await foresee(named, caller, { resources, ...options });
  } finally {
    caller.dispose();
  }
}

async function foresee(
  calls: readonly NamedCall[],
  caller: Caller,
  { resources, clock = systemClock, policyTimeoutMs = 5_000 }: ForeseeOptions,
): Promise<readonly ForeseenCall[]> {
  const { judges } = caller;
  // Also what is read leaves a trace in a session: a slice that it has not met before.
  const fork = caller.session.fork();
  // What is within a call has what that call has.
  const knowsResources = resources !== undefined || caller.session !== caller.rootSession;
  const surroundings: AheadSurroundings = {
    ...judges.surroundings,
    describe: judges.describe,
    session: Object.freeze({ read: fork.read.bind(fork) }),
    ...(knowsResources ? {} : { filesystem: unknownFilesystem }),
  };
  const answers = await Promise.all(
    judges.policies.map(async (bound) => {
      const questions = new PolicyQuestions(bound, surroundings, { clock, policyTimeoutMs, onEnd: caller.onEnd });
      try {
        return await foreseeAnswers(calls, questions, fork);
      } finally {
        questions.close();
      }
    }),
  );
  const grants = new Map<Tool, boolean>();
  const foreseen: ForeseenCall[] = [];
  for (const [at, { tool }] of calls.entries()) {
    const ofCall = answers.flatMap((ofPolicy) => ofPolicy[at] ?? []);
    const denials = judges.policies.flatMap(({ key }, index) => {
      const { answer, isCertain } = ofCall[index] ?? {};
      return isCertain && answer?.decision?.type === 'deny' ? [{ policy: key, reason: answer.decision.reason }] : [];
    });
    const asks = listAsks(ofCall, judges.gate(tool));
    if (asks.some(isGrantable) && !grants.has(tool)) grants.set(tool, await judges.isGranted(tool));
    const open = grants.get(tool) === true ? asks.filter((ask) => !isGrantable(ask)) : asks;
    foreseen.push({ denials, asks: open.map(({ reason }) => reason) });
  }
  return foreseen;
}

function isGrantable({ grantable }: Ask): boolean {
  return grantable !== false;
}

function listAsks(answers: readonly ForeseenAnswer[], gate: Ask | undefined): readonly Ask[] {
  const last = gate === undefined ? [] : [gate];
  const decisions = answers.map(({ answer: { decision, unknown } }) => (unknown ? undefined : decision));
  // A call that is denied asks nobody. Whether it is dangerous, a person may know all the same.
  if (decisions.some((decision) => decision?.type === 'deny')) return last;
  return [...decisions.flatMap((decision) => (decision?.type === 'ask' ? [decision] : [])), ...last];
}
