import { type Ask, systemClock, type Tool } from '@holdfast/core';
import { type Caller, type CallOptions, openCaller, type PolicySurroundings } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { type ForeseenAnswer, foreseeAnswers } from './answers.ts';
import { PolicyQuestions, type PolicyTime } from './questions.ts';
import { type ExpectedCall, freezeInput, type NamedCall, unknownFilesystem } from './watch.ts';

export interface ForeseeOptions
  extends Pick<CallOptions, 'tools' | 'policies' | 'grants' | 'clock'>,
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
  const { clock = systemClock, policyTimeoutMs = 5_000 } = options;
  // What is within a call has what that call has.
  const knowsResources = resources !== undefined || caller.session !== caller.rootSession;
  try {
    for (const { input } of calls) freezeInput(input);
    const named = calls.map((call, place) => ({ ...call, id: `ahead_${place}` }));
    return await foresee(named, { caller, time: { clock, policyTimeoutMs, onEnd: caller.onEnd }, knowsResources });
  } finally {
    caller.dispose();
  }
}

interface Foreseeing {
  readonly caller: Caller;
  readonly time: PolicyTime;
  readonly knowsResources: boolean;
}

async function foresee(
  calls: readonly NamedCall[],
  { caller, time, knowsResources }: Foreseeing,
): Promise<readonly ForeseenCall[]> {
  if (calls.length === 0) return [];
  const { judges } = caller;
  // Also what is read leaves a trace in a session: a slice that it has not met before.
  const fork = caller.session.fork();
  const surroundings: PolicySurroundings = {
    ...judges.surroundings,
    session: Object.freeze({ read: fork.read.bind(fork) }),
    ...(knowsResources ? {} : { filesystem: unknownFilesystem }),
  };
  const answers = await Promise.all(
    judges.policies.map(async (bound) => {
      const questions = new PolicyQuestions(bound, surroundings, time);
      try {
        return await foreseeAnswers(calls, questions, fork);
      } finally {
        questions.close();
      }
    }),
  );
  const grants = new Map<Tool, boolean>();
  const isGranted = async (tool: Tool): Promise<boolean> => {
    const known = grants.get(tool);
    if (known !== undefined) return known;
    const granted = await judges.isGranted(tool);
    grants.set(tool, granted);
    return granted;
  };
  const foreseen: ForeseenCall[] = [];
  for (const [at, { tool }] of calls.entries()) {
    const denials: { readonly policy: string; readonly reason: string }[] = [];
    const ofCall: ForeseenAnswer[] = [];
    for (const [index, bound] of judges.policies.entries()) {
      const own = answers[index]?.[at];
      if (own === undefined) continue;
      ofCall.push(own);
      const { decision } = own.answer;
      if (own.isCertain && decision?.type === 'deny') denials.push({ policy: bound.key, reason: decision.reason });
    }
    const asks = listAsks(ofCall, judges.gate(tool));
    const granted = asks.some(isGrantable) && (await isGranted(tool));
    foreseen.push({ denials, asks: asks.filter((ask) => !(granted && isGrantable(ask))).map(({ reason }) => reason) });
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
