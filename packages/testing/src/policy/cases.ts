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
 * A step before a case: a call, or a delay. `outcome` is the required outcome of the call, default `ok`; asks are approved, or refused for
 * `denied`. A stub tool fails if the outcome is `failed`.
 */
export type PolicyStep = (PolicyCall & { readonly outcome?: 'ok' | 'failed' | 'denied' }) | { readonly waitMs: number };

/** A call, with the required decision. */
export interface PolicyCase {
  /** Test name. Default: built from the call and the decision. */
  readonly title?: string;
  /** Earlier steps of the session. Default: none. */
  readonly after?: readonly PolicyStep[];
  readonly call: PolicyCall;
  readonly answer: 'allow' | 'ask' | 'deny';
  /** For an allow of a policy under `observe`: the observed decision. */
  readonly observed?: 'ask' | 'deny';
  /** Text that the reason must contain. */
  readonly reason?: string;
  /** Variants of these arguments that mean something else and may be allowed. */
  readonly different?: readonly VariantKind[];
}

export interface PolicyTesterOptions {
  /** Creates a policy as a host would. A policy that depends on time takes the clock, which `waitMs` moves. */
  readonly create: (world: { readonly clock: ManualClock }) => Policy;
  /** At least one. */
  readonly cases: readonly PolicyCase[];
  /**
   * The tools, if the policy uses more than names and arguments. Default: a stub per name that accepts any arguments, declares the effects
   * `state` and does nothing.
   */
  readonly tools?: readonly Tool[];
  /** Creates resources for each session, such as `filesystem`. Default: none. */
  readonly resources?: () => Readonly<Record<string, unknown>>;
  /** The facts of calls, from `createFacts` of `@holdfast/facts`. Default: no facts. */
  readonly facts?: FactsSource;
  /** Variants of arguments that mean something else for this policy, in every case. */
  readonly different?: readonly VariantKind[];
}
