import type { Json, OutcomeKind, PendingApproval, PolicyDecision, ToolCallEndEvent } from '@holdfast/core';
import type { TraceEntry } from '@holdfast/core/types';
import type { NodeId, Plan } from '../plan/types.ts';

/**
 * How a run of a plan ended. `succeeded`: all nodes succeeded. `partial`: the final node succeeded, others did not. `failed`: the final
 * node did not succeed, or a failed node halted the run. `aborted`: by the caller's signal, the deadline or the budget. `suspended`: calls
 * wait for approval.
 */
export type PlanStatus = 'succeeded' | 'partial' | 'failed' | 'aborted' | 'suspended';

/**
 * How a node ended: like its call, or `skipped` without one. A node that has not ended is `suspended` (its call waits for approval),
 * `running`, or `waiting` for others.
 */
export type NodeKind = OutcomeKind | 'skipped' | 'suspended' | 'running' | 'waiting';

/** The trace of one node. Secrets are masked if the session has a redactor. */
export interface NodeTrace extends TraceEntry {
  readonly node: NodeId;
  readonly kind: NodeKind;
  /** `metadata.purpose` of the node. */
  readonly purpose: string | undefined;
  readonly dependsOn: readonly NodeId[];
  /** The nodes because of which it was skipped or not called, in plan order. */
  readonly because: readonly NodeId[];
  /** Absent if no call was made. */
  readonly callId: string | undefined;
  /** The input of the call, with references resolved. */
  readonly input: Json | undefined;
  /** How often the tool was run. */
  readonly attempts: number;
  /** The failed attempts before the last one. */
  readonly retries: NonNullable<ToolCallEndEvent['retries']>;
  readonly decisions: readonly PolicyDecision[];
  readonly approval: ToolCallEndEvent['approval'];
  /** Milliseconds since 1970; absent if no call was made. */
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  /** Milliseconds, excluding the wait for approval. */
  readonly durationMs: number | undefined;
}

/** The trace of a plan's run. JSON, except for fields that are `undefined`. */
export interface PlanTrace {
  readonly sessionId: string;
  /** The run as named in its records: the number of records in the session before it. */
  readonly run: number;
  /** The request, if the plan was compiled. */
  readonly request: string | undefined;
  readonly plan: Plan;
  readonly digest: string;
  /** `running`: the log has no end, because the run is active or its process ended. */
  readonly status: PlanStatus | 'running';
  /** In plan order. */
  readonly nodes: readonly NodeTrace[];
  /** The value of the final node if it succeeded; masked like the rest. */
  readonly output: Json | undefined;
  /** Calls that wait for approval, in plan order. */
  readonly pending: readonly PendingApproval[];
  readonly startedAtMs: number;
  /** Absent while it runs. */
  readonly endedAtMs: number | undefined;
}
