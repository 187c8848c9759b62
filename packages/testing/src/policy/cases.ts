import type { FactsSource, JsonObject, Policy, Tool } from '@holdfast/core';
import type { ManualClock } from '../fakes/manual-clock.ts';
import type { VariantKind } from './variants.ts';

/** A call of a tool. */
export interface PolicyCall {
  readonly tool: string;
  /** Default: no arguments. */
  readonly input?: JsonObject;
}

/**
 * What happens before a case: a call, or that time passes. `outcome` is how the call has to end, default `ok`; whoever is asked
 * approves, for `denied` refuses. A stand-in for a tool fails where the outcome is `failed`.
 */
export type PolicyStep = (PolicyCall & { readonly outcome?: 'ok' | 'failed' | 'denied' }) | { readonly waitMs: number };

/** A call, and what the policy has to answer to it. */
export interface PolicyCase {
  /** To name a test by. Default: made of the call and the answer. */
  readonly title?: string;
  /** Calls of the session before. Default: none. */
  readonly after?: readonly PolicyStep[];
  readonly call: PolicyCall;
  readonly answer: 'allow' | 'ask' | 'deny';
  /** Of an allow of a policy under `observe`: what it has to note. */
  readonly observed?: 'ask' | 'deny';
  /** What the reason has to hold. */
  readonly reason?: string;
  /** Variants of these arguments that are something else, and may be let through. */
  readonly different?: readonly VariantKind[];
}

export interface PolicyTesterOptions {
  /** A new policy, as a host would make it. One that goes by time takes the clock, which `waitMs` moves. */
  readonly create: (world: { readonly clock: ManualClock }) => Policy;
  /** At least one. */
  readonly cases: readonly PolicyCase[];
  /**
   * The tools that are called, where the policy looks at more than names and arguments. Default: a stand-in for each name, which
   * takes any arguments, declares the effect `state` and does nothing.
   */
  readonly tools?: readonly Tool[];
  /** New resources for each session, `filesystem` among them. Default: none. */
  readonly resources?: () => Readonly<Record<string, unknown>>;
  /** What calls do, as `createFacts` of `@holdfast/facts` makes it. Default: the host makes no facts. */
  readonly facts?: FactsSource;
  /** Variants of arguments that are something else for this policy, in every case. */
  readonly different?: readonly VariantKind[];
}
