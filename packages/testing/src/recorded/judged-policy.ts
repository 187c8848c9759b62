import {
  allow,
  type Decision,
  deny,
  type Policy,
  type PolicyContext,
  type PreparedCall,
  systemClock,
  type Tool,
} from '@holdfast/core';
import type { Allow } from '@holdfast/core/types';
import { hearAnswer, type PolicyAnswer } from '../policy/answer.ts';
import type { RecordedCall } from './calls.ts';
import { callEvidence, contextEvidence, type EvidenceOptions, type Missed, resultEvidence } from './evidence.ts';

/** The decision of one policy on a recorded call. */
export interface Judgement {
  /** Its id. */
  readonly policy: string;
  /** `unknown`: it read something that the log does not have. */
  readonly type: Decision['type'] | 'unknown';
  /** For an allow, the observed reason; for `unknown`, the missing data. */
  readonly reason?: string;
  /** For an ungrantable ask. */
  readonly grantable?: false;
  readonly observed?: 'ask' | 'deny';
}

export interface JudgeOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly paths: EvidenceOptions['paths'];
  readonly workspace: EvidenceOptions['workspace'];
  readonly policyTimeoutMs: number;
}

/** The context of a judgement. */
export interface Court {
  /** The judged call. */
  readonly current: () => RecordedCall | undefined;
  readonly note: (call: RecordedCall, judgement: Judgement) => void;
}

/** Wraps a policy so that it allows everything, and records its decisions and its reads of missing data. */
export class JudgedPolicy {
  /** For the executor. */
  readonly watched: Policy;
  /** Why its state may differ. */
  doubt: string | undefined;
  readonly #policy: Policy;
  readonly #options: JudgeOptions;
  readonly #court: Court;
  /** One object per call, because a policy may use it as a key. */
  readonly #shown = new WeakMap<PreparedCall, { readonly recorded: RecordedCall; readonly shown: PreparedCall }>();
  #missed: Missed = () => undefined;

  constructor(policy: Policy, id: string, options: JudgeOptions, court: Court) {
    this.#policy = policy;
    this.#options = options;
    this.#court = court;
    const { onResult, reserve, countsFailures } = policy;
    this.watched = Object.freeze({
      ...policy,
      id,
      // A log has the called tools, not all available ones.
      mentions: [],
      check: (call, context) => this.#check(call, context),
      ...(onResult === undefined
        ? {}
        : {
            onResult: (call, result, context) =>
              this.#learn(call, (recorded, shown, missed) =>
                policy.onResult?.(
                  shown,
                  resultEvidence(result, recorded, missed),
                  this.#evidence(recorded, context, missed),
                ),
              ),
          }),
      ...(reserve === undefined
        ? {}
        : {
            reserve: (call, context) =>
              this.#learn(call, (recorded, shown, missed) => {
                const { outcome } = recorded;
                if (outcome !== 'in-doubt' && !(outcome === 'failed' && countsFailures)) return undefined;
                const { callKey } = context;
                // Copying the evidence would read all of it.
                const evidence = Object.create(this.#evidence(recorded, context, missed)) as PolicyContext;
                return policy.reserve?.(shown, Object.freeze(Object.assign(evidence, { callKey })));
              }),
          }),
    } satisfies Policy);
  }

  async #check(call: PreparedCall, context: PolicyContext): Promise<Allow> {
    const recorded = this.#court.current();
    if (recorded === undefined) return allow;
    let missing: string | undefined;
    const missed: Missed = (what) => {
      missing ??= what;
    };
    this.#missed = missed;
    const tool = this.#options.tools.get(call.tool.name);
    const shown = callEvidence(call, recorded, { tool }, () => this.#missed);
    this.#shown.set(call, { recorded, shown });
    const evidence = this.#evidence(
      recorded,
      context,
      missed,
      this.#policy.state === undefined ? undefined : this.doubt,
    );
    const answer = await this.#inTime(
      hearAnswer(() => atTime(recorded.atMs, () => this.#policy.check(shown, evidence))),
    );
    // Substitutes for arguments are incomplete, which may be why the policy throws.
    if (answer.type === 'fault' && recorded.hidden !== undefined) missed(recorded.hidden);
    this.#missed = () => undefined;
    this.#court.note(recorded, toJudgement(this.#policy, answer, missing));
    return allow;
  }

  #learn<Update>(
    call: PreparedCall,
    learn: (recorded: RecordedCall, shown: PreparedCall, missed: Missed) => Update | undefined,
  ): Update | undefined {
    const known = this.#shown.get(call);
    if (known === undefined) return undefined;
    this.#missed = (what) => {
      this.doubt ??= what;
    };
    try {
      return atTime(known.recorded.atMs, () => learn(known.recorded, known.shown, this.#missed));
    } catch {
      // It cannot fail the call, which ends as recorded.
      return undefined;
    }
  }

  #evidence({ request }: RecordedCall, context: PolicyContext, missed: Missed, doubt?: string): PolicyContext {
    const { paths, workspace } = this.#options;
    return contextEvidence(context, { paths, workspace, doubt, request }, missed);
  }

  /** Applies the time limit like the executor, but the call continues. */
  async #inTime(answering: Promise<PolicyAnswer>): Promise<PolicyAnswer> {
    const { policyTimeoutMs } = this.#options;
    let stop: () => void = () => undefined;
    const late = new Promise<PolicyAnswer>((resolve) => {
      const decision = deny(`The policy did not answer within ${policyTimeoutMs} ms.`);
      stop = systemClock.after(policyTimeoutMs, () => resolve({ type: 'decision', decision }));
    });
    const answer = await Promise.race([answering, late]);
    stop();
    return answer;
  }
}

function toJudgement({ id: policy }: Policy, answer: PolicyAnswer, missing: string | undefined): Judgement {
  if (missing !== undefined) return { policy, type: 'unknown', reason: missing };
  if (answer.type === 'fault') return { policy, type: 'deny', reason: `The policy failed: ${answer.what}` };
  const { decision } = answer;
  if (decision.type !== 'allow') return { policy, ...decision };
  const { observed } = decision;
  return observed === undefined
    ? { policy, type: 'allow' }
    : { policy, type: 'allow', observed: observed.type, reason: observed.reason };
}

/** Runs `ask` with the system clock set to the call's time. Synchronous, so that other code cannot see it. */
function atTime<Answer>(atMs: number, ask: () => Answer): Answer {
  const { now } = Date;
  Date.now = () => atMs;
  try {
    return ask();
  } finally {
    Date.now = now;
  }
}
