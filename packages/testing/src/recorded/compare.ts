import type { Decision, FilesystemReader, JsonObject, Policy, Tool } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import { type RecordedCall, type RecordedStep, readSessions } from './calls.ts';
import { checkPolicies, judgeCalls } from './judge.ts';
import type { Judgement, JudgeOptions } from './judged-policy.ts';

export interface ComparePoliciesOptions {
  readonly before: readonly Policy[];
  readonly after: readonly Policy[];
  /** The tools that were called. A policy that looks at more of one than its name cannot be judged without it. */
  readonly tools?: readonly Tool[];
  /** Says what key a path has, such as an empty `memoryFilesystem().readOnly`: nothing but `resolve` is asked of it. */
  readonly filesystem?: Pick<FilesystemReader, 'resolve'>;
  /** The folder in which the calls were made, absolute: what facts say of files is about it. */
  readonly workspace?: string;
  /** How long a policy may take to answer before that counts as a denial. Default 5,000 ms. */
  readonly policyTimeoutMs?: number;
}

/** What a list of policies says to a call. */
export interface Verdict {
  /** Deny beats ask beats allow; `unknown` where it depends on something that the log does not have. */
  readonly type: Decision['type'] | 'unknown';
  /** Of every policy, in order. */
  readonly judgements: readonly Judgement[];
}

/** One recorded call, and what the two lists say to it. JSON. */
export interface ComparedCall {
  readonly callId: string;
  /** The session of `context.child()` in which it was made; absent for the session of the log. */
  readonly sessionId?: string;
  /** The call that it is nested in. */
  readonly parentId?: string;
  readonly run?: number;
  readonly turn?: number;
  /** Number of the record that has its end, or says that it waits or has begun. */
  readonly seq: number;
  readonly tool: string;
  /** As recorded: with masks where there was a secret. */
  readonly input: JsonObject;
  /** How it ended; `waiting` for a person, or `begun` with no known end. */
  readonly outcome: RecordedCall['outcome'];
  readonly before: Verdict;
  readonly after: Verdict;
  /**
   * `tightened`: less is let through than before; `widened`: more is. `reason`: the same for other reasons. `unknown`: one of the
   * lists cannot be judged.
   */
  readonly change: 'same' | 'tightened' | 'widened' | 'reason' | 'unknown';
}

/**
 * What two lists of policies say to the calls of a recorded session, in the order in which those ended. Every call is put to both
 * on the history that the log has: it ends as it did, whatever they say, and with that the policies' states become what they would have become.
 * No tool is run, and nothing is changed. Calls of `context.child()` are put in sessions of their own. Calls that no policy was asked
 * about are left out: those of unknown tools and with invalid arguments.
 *
 * A log has no content of files, no disk, no secrets, no state of other slices and nothing of what a call read. A policy that looks at any of it is
 * `unknown`, and so is whatever it knows from then on; it is not guessed. What an `onResult` would have refused is not seen.
 *
 * @throws HoldfastError `options.invalid`; `slice.*` for a policy whose state no session takes.
 */
export async function comparePolicies(
  records: Iterable<LogRecord>,
  { before, after, tools = [], filesystem, workspace, policyTimeoutMs = 5_000 }: ComparePoliciesOptions,
): Promise<readonly ComparedCall[]> {
  checkPolicies('before', before);
  checkPolicies('after', after);
  const options: JudgeOptions = {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    paths: filesystem,
    workspace,
    policyTimeoutMs,
  };
  const compared: ComparedCall[] = [];
  for (const steps of readSessions(records)) {
    const judgedBefore = await judgeCalls(steps, before, options);
    const judgedAfter = await judgeCalls(steps, after, options);
    for (const call of listCalls(steps)) {
      compared.push(compare(call, toVerdict(judgedBefore.get(call) ?? []), toVerdict(judgedAfter.get(call) ?? [])));
    }
  }
  return compared.sort((one, other) => one.seq - other.seq);
}

function listCalls(steps: readonly RecordedStep[]): readonly RecordedCall[] {
  return steps.flatMap((step) => (step.type === 'call' ? [step, ...step.attempts.flatMap(listCalls)] : []));
}

function toVerdict(judgements: readonly Judgement[]): Verdict {
  const types = new Set(judgements.map(({ type }) => type));
  // What a policy that cannot be judged would say does not matter beside a denial.
  const type = (['deny', 'unknown', 'ask'] as const).find((candidate) => types.has(candidate)) ?? 'allow';
  return { type, judgements };
}

const strictness = { allow: 0, ask: 1, deny: 3, unknown: 3 } as const;

/** An ask that no grant answers lets less through than one that can be granted. */
function strictnessOf({ type, judgements }: Verdict): number {
  return strictness[type] + (type === 'ask' && judgements.some(({ grantable }) => grantable === false) ? 1 : 0);
}

function compare(call: RecordedCall, before: Verdict, after: Verdict): ComparedCall {
  const { callId, sessionId, parentId, run, turn, seq, tool, input, outcome } = call;
  return {
    callId,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(run === undefined ? {} : { run }),
    ...(turn === undefined ? {} : { turn }),
    seq,
    tool,
    input,
    outcome,
    before,
    after,
    change: changeOf(before, after),
  };
}

function changeOf(before: Verdict, after: Verdict): ComparedCall['change'] {
  if (before.type === 'unknown' || after.type === 'unknown') return 'unknown';
  const difference = strictnessOf(after) - strictnessOf(before);
  if (difference !== 0) return difference > 0 ? 'tightened' : 'widened';
  return describeReasons(before) === describeReasons(after) ? 'same' : 'reason';
}

/** Equal for equal reasons, whoever gave them and in whatever order. */
function describeReasons({ judgements }: Verdict): string {
  const reasons = judgements.flatMap(({ type, observed, reason }) =>
    reason === undefined ? [] : [JSON.stringify([type, observed, reason])],
  );
  return reasons.sort().join('\n');
}
