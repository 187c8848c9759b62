import { isHoldfastError, type Pack, type Policy } from '@holdfast/core';
import { hearAnswer, type PolicyAnswer } from '../policy/answer.ts';
import { playCase } from '../policy/checks.ts';
import { type PackCases, type PackSuite, toSuites, toTesterOptions } from './cases.ts';

/** The decisions of one policy of a pack in all cases. */
export interface PackRule {
  /** Its id within the pack. */
  readonly policy: string;
  readonly allowed: number;
  /** Including observed decisions of a dry run. */
  readonly asked: number;
  readonly denied: number;
  /** Median time of a check over repeated runs of the cases, after a warm-up. */
  readonly microseconds: number;
}

export interface PackRulesOptions {
  /** High-resolution time in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/**
 * Runs the cases of a pack, passing or not, and counts and times the decisions of each policy. The cost is that of this machine, for people
 * to judge.
 *
 * @throws HoldfastError as `packTester`, and errors of creating the policies.
 */
export async function measurePack(
  pack: Pack,
  cases: PackCases,
  { now = () => performance.now() }: PackRulesOptions = {},
): Promise<readonly PackRule[]> {
  const counts = new RuleCounts(now);
  for (const suite of toSuites(pack, cases)) await playSuite(pack, suite, (policy) => counts.watch(policy));
  return counts.rules(pack);
}

/** `measurePack` without times. */
export async function countRules(pack: Pack, suites: readonly PackSuite[]): Promise<readonly PackRule[]> {
  const counts = new RuleCounts(undefined);
  for (const suite of suites) await playSuite(pack, suite, (policy) => counts.watch(policy));
  return counts.rules(pack);
}

async function playSuite(pack: Pack, suite: PackSuite, watch: (policy: Policy) => Policy): Promise<void> {
  const options = toTesterOptions(pack, suite, watch);
  for (const testCase of suite.cases.cases) {
    await playCase(options, testCase).catch((thrown: unknown) => {
      // The case's own check reports the failure.
      if (!isHoldfastError(thrown) || thrown.code !== 'conformance.failed') throw thrown;
    });
  }
}

interface RuleCount {
  allowed: number;
  asked: number;
  denied: number;
  readonly costs: number[];
}

const roundsPerCheck = 21;
const checksPerRound = 20;
/** Limits the repetitions of a slow policy. */
const enoughMs = 50;

class RuleCounts {
  readonly #counts = new Map<string, RuleCount>();
  readonly #now: (() => number) | undefined;

  constructor(now: (() => number) | undefined) {
    this.#now = now;
  }

  watch(policy: Policy): Policy {
    const count = this.#counts.get(policy.id) ?? { allowed: 0, asked: 0, denied: 0, costs: [] };
    this.#counts.set(policy.id, count);
    return {
      ...policy,
      check: async (call, context) => {
        const answer = await hearAnswer(() => policy.check(call, context));
        const type = typeOf(answer);
        if (type === 'allow') count.allowed += 1;
        else if (type === 'ask') count.asked += 1;
        else if (type === 'deny') count.denied += 1;
        const now = this.#now;
        if (now !== undefined && type !== undefined)
          count.costs.push(await time(() => policy.check(call, context), now));
        if (answer.type === 'fault') throw new Error(answer.what);
        return answer.decision;
      },
    };
  }

  rules({ name }: Pack): readonly PackRule[] {
    return [...this.#counts].map(([id, { allowed, asked, denied, costs }]) => {
      const policy = id.startsWith(`${name}-`) ? id.slice(name.length + 1) : id;
      return { policy, allowed, asked, denied, microseconds: Math.round(median(costs) * 100) / 100 };
    });
  }
}

function typeOf(answer: PolicyAnswer): 'allow' | 'ask' | 'deny' | undefined {
  if (answer.type === 'fault') return undefined;
  const { decision } = answer;
  return decision.type === 'allow' ? (decision.observed?.type ?? 'allow') : decision.type;
}

/** Microseconds of one check: the median of rounds, the first of which warm up. */
async function time(check: () => unknown, now: () => number): Promise<number> {
  const rounds: number[] = [];
  let spentMs = 0;
  for (let round = 0; round < roundsPerCheck && spentMs < enoughMs; round += 1) {
    const before = now();
    for (let count = 0; count < checksPerRound; count += 1) await check();
    const tookMs = now() - before;
    spentMs += tookMs;
    rounds.push((tookMs * 1_000) / checksPerRound);
  }
  return median(rounds);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
