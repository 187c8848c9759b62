import type { Json, OutcomeKind, PendingApproval, PolicyDecision, ToolCallEndEvent, TraceEntry } from '@holdfast/core';
import type { NodeId, Plan } from '../plan/types.ts';

/**
 * How a run of a plan ended. `succeeded`: every node did. `partial`: the final node did, and others did not. `failed`: the final node
 * did not, or a node that had to halt the run failed. `aborted`: by the caller's signal, the deadline or the budget. `suspended`: calls wait for a person.
 */
export type PlanStatus = 'succeeded' | 'partial' | 'failed' | 'aborted' | 'suspended';

/**
 * How a node ended: as its call did; `skipped` without one. A node that has not ended is `suspended` (its call waits for a person),
 * `running`, or `waiting` for others.
 */
export type NodeKind = OutcomeKind | 'skipped' | 'suspended' | 'running' | 'waiting';

/** What became of one node. Secrets are masked where the session has a redactor. */
export interface NodeTrace extends TraceEntry {
  readonly node: NodeId;
  readonly kind: NodeKind;
  /** `metadata.purpose` of the node. */
  readonly purpose: string | undefined;
  readonly dependsOn: readonly NodeId[];
  /** Nodes because of which it was skipped or not called, in plan order. */
  readonly because: readonly NodeId[];
  /** Absent when no call was made. */
  readonly callId: string | undefined;
  /** With references resolved, as the call was made. */
  readonly input: Json | undefined;
  /** How often the tool was run. */
  readonly attempts: number;
  /** Of the attempts that failed before the last one. */
  readonly retries: NonNullable<ToolCallEndEvent['retries']>;
  readonly decisions: readonly PolicyDecision[];
  readonly approval: ToolCallEndEvent['approval'];
  /** Milliseconds since 1970; absent where no call was made. */
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  /** Without the time that a person took to answer. */
  readonly durationMs: number | undefined;
}

/** What became of a plan: JSON throughout, but for fields that are `undefined`. */
export interface PlanTrace {
  readonly sessionId: string;
  /** The run as its records name it: how many records the session had before it. */
  readonly run: number;
  /** What was asked for, where the plan was compiled from a request. */
  readonly request: string | undefined;
  readonly plan: Plan;
  readonly digest: string;
  /** `running`: by its log it has not ended; its process did, or it goes on. */
  readonly status: PlanStatus | 'running';
  /** In plan order. */
  readonly nodes: readonly NodeTrace[];
  /** The value of the final node, where it succeeded; masked as all of this. */
  readonly output: Json | undefined;
  /** Questions that wait for a person, in plan order. */
  readonly pending: readonly PendingApproval[];
  readonly startedAtMs: number;
  /** Absent while it runs. */
  readonly endedAtMs: number | undefined;
}
