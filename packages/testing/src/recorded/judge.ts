import { defineTool, HoldfastError, type Policy, type Tool, toolError, toolOk } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type Session, type SessionSnapshot } from '@holdfast/session';
import { anyObject } from '../policy/world.ts';
import type { RecordedCall, RecordedStep } from './calls.ts';
import { type Court, JudgedPolicy, type Judgement, type JudgeOptions } from './judged-policy.ts';

/** By call, the decision of every policy. */
export type Judgements = ReadonlyMap<RecordedCall, readonly Judgement[]>;

/**
 * Lets `policies` judge the calls of one session without effect: each call ends as recorded. No tool runs. The calls take the normal call
 * path, so that the policies' states develop as they would have.
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
  readonly doubts: readonly (string | undefined)[];
}

class Replay {
  readonly judgements = new Map<RecordedCall, Judgement[]>();
  readonly #policies: readonly JudgedPolicy[];
  readonly #watched: readonly Policy[];
  readonly #tools: readonly Tool[];
  // Only a sink.
  readonly #session: Session = createSession({
    store: { lasting: false, append: () => undefined, close: () => undefined },
  });
  readonly #kept = new Map<number, Kept>();
  /** The call that is judged now. */
  #current: RecordedCall | undefined;

  constructor(policies: readonly Policy[], options: JudgeOptions, steps: readonly RecordedStep[]) {
    const court: Court = {
      current: () => this.#current,
      note: (call, judgement) => {
        const judgements = this.judgements.get(call) ?? [];
        judgements.push(judgement);
        this.judgements.set(call, judgements);
      },
    };
    this.#policies = policies.map((policy, index) => new JudgedPolicy(policy, `judged-${index}`, options, court));
    this.#watched = this.#policies.map(({ watched }) => watched);
    const names = new Set<string>();
    for (const step of steps) if (step.type === 'call') collectNames(step, names);
    this.#tools = [...names].map((name) => this.#standIn(name));
  }

  /** Saves the state for a later restore step. */
  keep(to: number): void {
    this.#kept.set(to, { snapshot: this.#session.snapshot(), doubts: this.#policies.map(({ doubt }) => doubt) });
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
      for (const policy of this.#policies) policy.doubt = undefined;
    } else if (kept !== undefined) {
      this.#session.restore(kept.snapshot);
      for (const [index, policy] of this.#policies.entries()) policy.doubt = kept.doubts[index];
    } else {
      const why = step.type === 'foreign' ? step.why : 'the state was restored to one that is not in the log';
      for (const policy of this.#policies) policy.doubt ??= why;
    }
  }

  /** Each attempt is a separate call: failed ones leave no state. */
  async #put(call: RecordedCall, put: (call: RecordedCall) => Promise<unknown>): Promise<void> {
    for (const [index, nested] of call.attempts.entries()) {
      const isLast = index === call.attempts.length - 1;
      // Copies for failed attempts, so that the last decision is reported; arguments and state are the same.
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
      // Requests reservations, which are dropped unless the call ended in doubt.
      effects: 'external',
      repeat: 'never',
      execute: async (_input, context) => {
        const call = this.#current;
        if (call === undefined) return toolError('Nothing was recorded.');
        for (const nested of call.attempts.at(-1) ?? []) {
          await this.#put(nested, ({ tool, input }) => context.call(tool, input));
        }
        if (call.outcome === 'ok') return toolOk(call.value, call.message);
        // A value that is not JSON cannot be committed, which leaves an external call in doubt.
        return call.outcome === 'in-doubt' ? undefined : toolError('It did not succeed.');
      },
    });
  }
}

function collectNames(call: RecordedCall, names: Set<string>): void {
  names.add(call.tool);
  for (const nested of call.attempts.flat()) collectNames(nested, names);
}

/** @throws HoldfastError `options.invalid` if it is not a list of policies. */
export function checkPolicies(name: string, policies: readonly Policy[]): void {
  const isList = Array.isArray(policies) && policies.every((policy) => typeof policy?.check === 'function');
  if (isList) return;
  throw new HoldfastError('options.invalid', `\`${name}\` must be a list of policies.`);
}
