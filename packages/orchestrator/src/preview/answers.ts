import { isHoldfastError, type Policy, type Slice, type Tool } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { type Answer, isCertainDenial, type PolicyQuestions, succeed, unanswered } from './questions.ts';
import { findStates } from './states.ts';
import type { NamedCall } from './watch.ts';

/** A policy's answer about one call, assuming that all earlier calls in the list succeed. */
export interface ForeseenAnswer {
  readonly answer: Answer;
  /** True if the call is denied in every possible run. */
  readonly isCertain: boolean;
}

/** The answers of one policy, one per call. May modify `session`. */
export async function foreseeAnswers(
  calls: readonly NamedCall[],
  questions: PolicyQuestions,
  session: Session,
): Promise<readonly ForeseenAnswer[]> {
  const { policy, slice } = questions.bound;
  if (slice !== undefined) {
    if (!hasState(session, slice)) return calls.map(() => ({ answer: unanswered, isCertain: false }));
    return answerByState(calls, { questions, session, slice });
  }
  // A policy with `onResult` but no session state may answer differently later.
  const isSteady = policy.timed !== true && policy.onResult === undefined;
  const answers: ForeseenAnswer[] = [];
  for (const call of calls) {
    const answer = await questions.ask(call, undefined);
    answers.push({ answer, isCertain: isSteady && isCertainDenial(answer) });
  }
  return answers;
}

function hasState(session: Session, slice: Slice): boolean {
  try {
    session.read(slice);
    return true;
  } catch (thrown) {
    // The session holds another kind of slice under the policy's key. Each call will report that.
    if (isHoldfastError(thrown)) return false;
    throw thrown;
  }
}

interface Stateful {
  readonly questions: PolicyQuestions;
  readonly session: Session;
  readonly slice: Slice;
}

async function answerByState(calls: readonly NamedCall[], stateful: Stateful): Promise<readonly ForeseenAnswer[]> {
  const { answers, isConstant, byCall } = await walk(calls, stateful);
  const isSteady = canForesee(stateful.questions.bound.policy, calls);
  // A policy may throw here only because a value is not known yet.
  const isCandidate = (answer: Answer): boolean => isSteady && isCertainDenial(answer) && !answer.threw;
  const candidates = [...answers.entries()].flatMap(([call, answer]) => (isCandidate(answer) ? [call] : []));
  const certain = isConstant
    ? new Set(candidates)
    : await deniedInAll(calls, candidates, { ...stateful, byCall, isCandidate });
  return answers.map((answer, call) => ({ answer, isCertain: certain.has(call) }));
}

/** True if only successful calls change the policy's answer. */
function canForesee({ timed, reserve, countsFailures }: Policy, calls: readonly NamedCall[]): boolean {
  if (timed === true) return false;
  if (countsFailures === true && reserve !== undefined) return false;
  // The reserve of a call that may have taken effect is known only after the call.
  return reserve === undefined || !calls.some(({ tool }) => tool.effects === 'external' && tool.repeat !== 'safe');
}

interface Walked {
  readonly answers: readonly Answer[];
  /** True if no success changes the state. */
  readonly isConstant: boolean;
  /** Tools whose calls may change the state in different ways. */
  readonly byCall: ReadonlySet<Tool>;
}

/** Asks about each call, assuming that the calls before it have succeeded. */
async function walk(calls: readonly NamedCall[], { questions, session, slice }: Stateful): Promise<Walked> {
  const transaction = session.begin();
  const answers: Answer[] = [];
  const byCall = new Set<Tool>();
  let isConstant = true;
  for (const call of calls) {
    answers.push(await questions.ask(call, transaction.read(slice)));
    const { type, own } = await succeed(call, { questions, slice, transaction });
    if (own) byCall.add(call.tool);
    if (type !== 'same') isConstant = false;
  }
  transaction.discard();
  return { answers, isConstant, byCall };
}

interface Denied extends Stateful {
  readonly byCall: ReadonlySet<Tool>;
  isCandidate(answer: Answer): boolean;
}

/** The `candidates` that the policy denies in every state that may precede them. */
async function deniedInAll(
  calls: readonly NamedCall[],
  candidates: readonly number[],
  { questions, session, slice, byCall, isCandidate }: Denied,
): Promise<ReadonlySet<number>> {
  const certain = new Set<number>();
  /** By state: the answers for tools of which the policy read only the name. */
  const byTool = new Map<unknown, Map<Tool, boolean>>();
  const isDenied = async (call: NamedCall, state: unknown): Promise<boolean> => {
    const known = byTool.get(state)?.get(call.tool);
    if (known !== undefined) return known;
    const answer = await questions.ask(call, state);
    const denied = isCandidate(answer);
    if (!answer.own) {
      const tools = byTool.get(state) ?? new Map<Tool, boolean>();
      byTool.set(state, tools.set(call.tool, denied));
    }
    return denied;
  };
  const start = session.begin();
  const now: unknown = start.read(slice);
  const left: number[] = [];
  for (const at of candidates) {
    const call = calls[at];
    if (call !== undefined && (await isDenied(call, now))) left.push(at);
  }
  const possible = left.length === 0 ? undefined : await findStates(calls, { questions, slice, start, byCall });
  for (const at of left) {
    const call = calls[at];
    const states = possible?.before(at);
    if (call === undefined || states === undefined) continue;
    let denied = true;
    for (const state of states) {
      denied = await isDenied(call, state);
      if (!denied) break;
    }
    if (denied) certain.add(at);
  }
  start.discard();
  return certain;
}
