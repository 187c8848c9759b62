import type { Operation, PolicyContext, PolicyDecision, PreparedCall, SessionReader, Slice } from '@holdfast/core';
import type { BoundPolicy } from '@holdfast/core/types';
import type { CallScope } from './scope.ts';

/** A policy's context without its own state. */
export type PolicySurroundings = Required<Omit<PolicyContext, 'state'>>;

/** A policy with its key and state. */
export interface PolicyInForce extends BoundPolicy {
  /** The slice with the policy's state, if it has any. */
  readonly slice: Slice | undefined;
  /** Converts an answer of `onResult` to changes of the slice. */
  toOperations(answer: unknown): readonly Operation[];
}

/** Shared by overlapping calls of one session, to detect stale decisions. */
export interface PolicyMoves {
  /** Grows when a commit may change what policies answer. */
  count: number;
  /** True once a policy has read the session: from then on any change of the session may change its answer. */
  looked: boolean;
  /** Resolves when the queue is empty. */
  turn: Promise<void>;
}

/** The names of tools. */
export interface ToolNames {
  has(toolName: string): boolean;
}

/** A policy in force in one scope. */
export interface PolicyBinding extends PolicyInForce {
  /** The entry for an allow, the most common decision. */
  readonly allowed: PolicyDecision;
  /** The policy's context. Its state is read through `reader`, which shows staged changes while a call is being settled. */
  context(reader: SessionReader, surroundings: PolicySurroundings): PolicyContext;
}

/** The policies with an `onResult`. */
export function observersOf(policies: readonly PolicyBinding[]): readonly PolicyBinding[] {
  return policies.filter(({ policy: { onResult, reserve } }) => onResult !== undefined || reserve !== undefined);
}

/** The policies in force for the tool. */
export function policiesFor({ policiesOf, hostPolicies }: CallScope, toolName: string): readonly PolicyBinding[] {
  return policiesOf === undefined ? hostPolicies : policiesOf(toolName);
}

/** True if the policy's answer may depend on more than the call: on session state, or on state of its own. */
export function keepsState({ policy }: PolicyBinding): boolean {
  return policy.state !== undefined || policy.onResult !== undefined;
}

/** Policies whose answers may depend on state. */
export function statefulFor({ tool }: PreparedCall, scope: CallScope): readonly PolicyBinding[] {
  return policiesFor(scope, tool.name).filter(keepsState);
}
