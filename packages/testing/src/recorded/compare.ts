import type { Decision, FilesystemReader, JsonObject, Policy, Tool } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import { type RecordedCall, type RecordedStep, readSessions } from './calls.ts';
import { checkPolicies, judgeCalls } from './judge.ts';
import type { Judgement, JudgeOptions } from './judged-policy.ts';

export interface ComparePoliciesOptions {
  readonly before: readonly Policy[];
  readonly after: readonly Policy[];
  /** The called tools. Without a tool, a policy that reads more than its name cannot be judged. */
  readonly tools?: readonly Tool[];
  /** Resolves paths to keys, such as an empty `memoryFilesystem().readOnly`: only `resolve` is used. */
  readonly filesystem?: Pick<FilesystemReader, 'resolve'>;
  /** The absolute folder in which the calls ran, to which their facts refer. */
  readonly workspace?: string;
  /** Time limit of a policy, after which it denies. Default 5,000 ms. */
  readonly policyTimeoutMs?: number;
}

/** The decision of a list of policies on a call. */
export interface Verdict {
  /** Deny beats ask beats allow; `unknown` if it depends on data that the log does not have. */
  readonly type: Decision['type'] | 'unknown';
  /** One per policy, in order. */
  readonly judgements: readonly Judgement[];
}

/** One recorded call, with the decisions of both lists. JSON. */
export interface ComparedCall {
  readonly callId: string;
  /** The session of `context.child()` in which it was made; absent for the session of the log. */
  readonly sessionId?: string;
  /** The outer call. */
  readonly parentId?: string;
  readonly run?: number;
  readonly turn?: number;
  /** Number of its end record, or of the record that shows it waiting or running. */
  readonly seq: number;
  readonly tool: string;
  /** As recorded, with masks for secrets. */
  readonly input: JsonObject;
  /** Its outcome; `waiting` for a person, or `begun` with no known end. */
  readonly outcome: RecordedCall['outcome'];
  readonly before: Verdict;
  readonly after: Verdict;
  /**
   * `tightened`: `after` allows less than `before`; `widened`: more. `reason`: only the reasons differ. `unknown`: one of the lists cannot be
   * judged.
   */
  readonly change: 'same' | 'tightened' | 'widened' | 'reason' | 'unknown';
}

/**
 * Compares the decisions of two lists of policies on the calls of a recorded session, in the order of their ends. Both lists judge every
 * call on the recorded history: it ends as recorded, whatever they decide, and updates the policies' states accordingly. No tool runs, and
 * nothing changes. Calls of `context.child()` are judged in their own sessions. Calls that no policy decided on are left out: those of
 * unknown tools and with invalid arguments.
 *
 * A log has no file contents, disk, secrets, state of other slices, or reads of a call. A policy that uses any of these is `unknown`, and so
 * is its later state; nothing is guessed. Errors of `onResult` are not considered.
 *
 * @throws HoldfastError `options.invalid`; `slice.*` for a policy with an invalid state.
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
  // A denial wins over policies that cannot be judged.
  const type = (['deny', 'unknown', 'ask'] as const).find((candidate) => types.has(candidate)) ?? 'allow';
  return { type, judgements };
}

const strictness = { allow: 0, ask: 1, deny: 3, unknown: 3 } as const;

/** An ungrantable ask allows less than a grantable one. */
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

/** Equal for equal reasons, in any order and from any policy. */
function describeReasons({ judgements }: Verdict): string {
  const reasons = judgements.flatMap(({ type, observed, reason }) =>
    reason === undefined ? [] : [JSON.stringify([type, observed, reason])],
  );
  return reasons.sort().join('\n');
}
