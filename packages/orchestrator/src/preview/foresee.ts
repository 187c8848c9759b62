import { systemClock, type Tool } from '@holdfast/core';
import type { Ask } from '@holdfast/core/types';
import { type Caller, type CallOptions, openCaller } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { type ForeseenAnswer, foreseeAnswers } from './answers.ts';
import { PolicyQuestions } from './questions.ts';
import { type AheadSurroundings, type ExpectedCall, freezeInput, type NamedCall, unknownFilesystem } from './watch.ts';

export interface ForeseeOptions
  extends Pick<CallOptions, 'tools' | 'policies' | 'grants' | 'facts' | 'clock'>,
    Partial<Pick<CallOptions, 'session'>> {
  /** The resources that will be bound. Default: unknown; a policy that reads files cannot deny for certain. */
  readonly resources?: CallOptions['resources'];
  /** The time limit for all answers of one policy together, in milliseconds; answers that come later are unknown. Default 5,000. */
  readonly policyTimeoutMs?: number;
}

/** The expected decision about a call. */
export interface ForeseenCall {
  /** Policies that deny the call in every possible run, in policy order, with their reasons. */
  readonly denials: readonly { readonly policy: string; readonly reason: string }[];
  /**
   * The reasons for which a person will be asked, assuming that all earlier calls in the list succeed: those of the policies in order, then
   * that of the dangerous gate. Empty if no approval is expected.
   */
  readonly asks: readonly string[];
}

/**
 * Asks the policies and the dangerous gate about calls that may be made later, in the order of `calls`. Nothing is run, recorded, staged or
 * changed: policies see hypothetical successes in a private fork of the session.
 *
 * A denial is reported only if it holds in every possible run. A stateless policy denies for certain if it read only the call, and not its
 * unknown input; throwing counts as denying. A stateful policy must deny in every state that successes of earlier calls can lead to; if
 * there are too many states, or a success cannot be predicted without its result, nothing is reported. Policies with `timed`, policies that
 * exceed their time, and policies with `reserve` where calls may be in doubt never deny for certain. Nested calls of tools are not
 * predicted.
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
  // Even reading leaves a trace in a session: a slice that it has not seen before.
  const fork = caller.session.fork();
  // A nested run inherits the resources of its call.
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
  // A denied call needs no approval. It may be dangerous all the same, so the reasons of the gate are kept.
  if (decisions.some((decision) => decision?.type === 'deny')) return last;
  return [...decisions.flatMap((decision) => (decision?.type === 'ask' ? [decision] : [])), ...last];
}
