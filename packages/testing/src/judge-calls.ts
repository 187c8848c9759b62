import {
  allow,
  type Decision,
  defineTool,
  deny,
  HoldfastError,
  type Policy,
  type PreparedCall,
  systemClock,
  type Tool,
  toolError,
  toolOk,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type Session, type SessionSnapshot } from '@holdfast/session';
import { callEvidence, contextEvidence, type EvidenceOptions, type Missed, resultEvidence } from './evidence.ts';
import { hearAnswer, type PolicyAnswer } from './policy-answer.ts';
import { anyObject } from './policy-world.ts';
import type { RecordedCall, RecordedStep } from './recorded-calls.ts';

/** What one policy says to a recorded call. */
export interface Judgement {
  /** Its id. */
  readonly policy: string;
  /** `unknown`: it looked at something that the log does not have. */
  readonly type: Decision['type'] | 'unknown';
  /** Of an allow, what it noted; of `unknown`, what was missing. */
  readonly reason?: string;
  readonly observed?: 'ask' | 'deny';
}

export interface JudgeOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly paths: EvidenceOptions['paths'];
  readonly policyTimeoutMs: number;
}

/** By call, what every policy says to it. */
export type Judgements = ReadonlyMap<RecordedCall, readonly Judgement[]>;

/**
 * Puts the calls of one session to `policies`, which decide nothing: each call ends as it did. No tool runs. They go the path of every
 * call, so that what policies keep becomes what it would have become.
 */
export async function judgeCalls(
  steps: readonly RecordedStep[],
  policies: readonly Policy[],
  options: JudgeOptions,
): Promise<Judgements> {
  const replay = new Replay(policies, options, steps);
  const restores = steps
    .flatMap((step) => (step.type === 'restore' ? [step.to] : []))
    .sort((one, other) => one - other);
  for (const step of steps) {
    while (restores[0] !== undefined && restores[0] <= step.at) replay.keep(restores.shift() ?? 0);
    await replay.take(step);
  }
  return replay.judgements;
}

interface Kept {
  readonly snapshot: SessionSnapshot;
  readonly doubts: ReadonlyMap<number, string>;
}

class Replay {
  readonly judgements = new Map<RecordedCall, Judgement[]>();
  readonly #options: JudgeOptions;
  readonly #policies: readonly Policy[];
  readonly #watched: readonly Policy[];
  readonly #tools: readonly Tool[];
  readonly #session: Session = createSession();
  readonly #kept = new Map<number, Kept>();
  /** Of policies whose state may not be what it was, why; by place. */
  #doubts = new Map<number, string>();
  /** The one that is put next, or whose policies are being asked. */
  #current: RecordedCall | undefined;
  readonly #known = new WeakMap<PreparedCall, { readonly recorded: RecordedCall; readonly shown: PreparedCall }>();
  #missed: Missed = () => undefined;

  constructor(policies: readonly Policy[], options: JudgeOptions, steps: readonly RecordedStep[]) {
    this.#options = options;
    this.#policies = policies;
    this.#watched = policies.map((policy, index) => this.#watch(policy, index));
    const names = new Set<string>();
    for (const step of steps) if (step.type === 'call') collectNames(step, names);
    this.#tools = [...names].map((name) => this.#standIn(name));
  }

  /** Notes the state, for a step that goes back to it. */
  keep(to: number): void {
    this.#kept.set(to, { snapshot: this.#session.snapshot(), doubts: new Map(this.#doubts) });
  }

  async take(step: RecordedStep): Promise<void> {
    if (step.type === 'call') {
      await this.#put(step, (call) =>
        executeToolCall(
          { id: call.callId, name: call.tool, arguments: call.input },
          {
            tools: this.#tools,
            policies: this.#watched,
            session: this.#session,
          },
        ),
      );
      return;
    }
    const kept = step.type === 'restore' ? this.#kept.get(step.to) : undefined;
    if (step.type === 'reset') {
      this.#session.reset();
      this.#doubts.clear();
    } else if (kept !== undefined) {
      this.#session.restore(kept.snapshot);
      this.#doubts = new Map(kept.doubts);
    } else {
      const why = step.type === 'foreign' ? step.why : 'the state was put back to one that is not in the log';
      for (const index of this.#policies.keys()) this.#doubt(index, why);
    }
  }

  /** Every attempt is a call of its own: of those that failed nothing is left. */
  async #put(call: RecordedCall, put: (call: RecordedCall) => Promise<unknown>): Promise<void> {
    for (const [index, nested] of call.attempts.entries()) {
      const isLast = index === call.attempts.length - 1;
      // A copy for the failed ones, so that the last word is the one that is told; they have the same arguments and state.
      const attempt = isLast ? call : { ...call, outcome: 'failed' as const, attempts: [nested] };
      this.#current = attempt;
      await put(attempt);
    }
  }

  #standIn(name: string): Tool {
    return defineTool({
      name,
      description: 'Stands in for a tool.',
      inputSchema: anyObject,
      // What a policy reserves is asked for before it, and dropped unless the call ended in doubt.
      effects: 'external',
      repeat: 'never',
      execute: async (_input, context) => {
        const call = this.#current;
        if (call === undefined) return toolError('Nothing was recorded.');
        for (const nested of call.attempts.at(-1) ?? []) {
          await this.#put(nested, ({ tool, input }) => context.call(tool, input));
        }
        if (call.outcome === 'ok') return toolOk(call.value, call.message);
        // What is no JSON cannot be committed, which leaves an external call in doubt.
        return call.outcome === 'in-doubt' ? undefined : toolError('It did not succeed.');
      },
    });
  }

  #watch(policy: Policy, index: number): Policy {
    const { onResult, reserve } = policy;
    return Object.freeze({
      ...policy,
      id: `judged-${index}`,
      tools: [],
      check: async (call, context) => {
        const recorded = this.#current;
        if (recorded === undefined) return allow;
        const { shown } = this.#show(call, recorded);
        let missing: string | undefined;
        const note: Missed = (what) => {
          missing ??= what;
        };
        this.#missed = note;
        const doubt = this.#doubts.get(index);
        const evidence = contextEvidence(context, { ...this.#options, doubt }, note);
        const asking = hearAnswer(() => atTime(recorded.atMs, () => policy.check(shown, evidence)));
        const answer = await this.#inTime(asking);
        // What stands in for arguments cannot be everything that they were: it may be why the policy throws.
        if (answer.type === 'fault' && recorded.hidden !== undefined) note(recorded.hidden);
        const decision = answer.type === 'decision' ? answer.decision : deny(`The policy failed: ${answer.what}`);
        this.#missed = () => undefined;
        this.#note(recorded, toJudgement(policy, decision, missing));
        return allow;
      },
      ...(onResult === undefined
        ? {}
        : {
            onResult: (call, result, context) => {
              const known = this.#known.get(call);
              if (known === undefined) return undefined;
              const note: Missed = (what) => this.#doubt(index, what);
              this.#missed = note;
              try {
                const evidence = contextEvidence(context, { ...this.#options, doubt: undefined }, note);
                return atTime(known.recorded.atMs, () =>
                  policy.onResult?.(known.shown, resultEvidence(result, known.recorded, note), evidence),
                );
              } catch {
                // It fails no call here: as the log has it, the call succeeded.
                return undefined;
              }
            },
          }),
      ...(reserve === undefined
        ? {}
        : {
            reserve: (call, context) => {
              const known = this.#known.get(call);
              if (known?.recorded.outcome !== 'in-doubt') return undefined;
              const note: Missed = (what) => this.#doubt(index, what);
              this.#missed = note;
              try {
                const { callKey } = context;
                const evidence = Object.freeze({
                  ...contextEvidence(context, { ...this.#options, doubt: undefined }, note),
                  callKey,
                });
                return policy.reserve?.(known.shown, evidence);
              } catch {
                return undefined;
              }
            },
          }),
    } satisfies Policy);
  }

  #show(call: PreparedCall, recorded: RecordedCall): { readonly shown: PreparedCall } {
    const known = this.#known.get(call);
    if (known !== undefined) return known;
    const tool = this.#options.tools.get(call.tool.name);
    const shown = callEvidence(call, recorded, { tool }, () => this.#missed);
    this.#known.set(call, { recorded, shown });
    return { shown };
  }

  #note(call: RecordedCall, judgement: Judgement): void {
    const judgements = this.judgements.get(call) ?? [];
    judgements.push(judgement);
    this.judgements.set(call, judgements);
  }

  #doubt(index: number, why: string): void {
    if (this.#policies[index]?.state !== undefined && !this.#doubts.has(index)) this.#doubts.set(index, why);
  }

  /** As the executor does it; but the call goes on. */
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

function collectNames(call: RecordedCall, names: Set<string>): void {
  names.add(call.tool);
  for (const nested of call.attempts.flat()) collectNames(nested, names);
}

function toJudgement({ id: policy }: Policy, decision: Decision, missing: string | undefined): Judgement {
  if (missing !== undefined) return { policy, type: 'unknown', reason: missing };
  if (decision.type !== 'allow') return { policy, type: decision.type, reason: decision.reason };
  const { observed } = decision;
  return observed === undefined
    ? { policy, type: 'allow' }
    : { policy, type: 'allow', observed: observed.type, reason: observed.reason };
}

/** Lets whoever asks for the system's time meanwhile have that of the call. Only what is done at once: nobody else can see it. */
function atTime<Answer>(atMs: number, ask: () => Answer): Answer {
  const { now } = Date;
  Date.now = () => atMs;
  try {
    return ask();
  } finally {
    Date.now = now;
  }
}

/** @throws HoldfastError `options.invalid` for what is no list of policies. */
export function checkPolicies(name: string, policies: readonly Policy[]): void {
  const isList = Array.isArray(policies) && policies.every((policy) => typeof policy?.check === 'function');
  if (isList) return;
  throw new HoldfastError('options.invalid', `\`${name}\` must be a list of policies.`);
}
