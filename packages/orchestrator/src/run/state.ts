import type { Clock, RunEvent, Tool } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import type { EndOfLife } from '@holdfast/executor/internal';
import type { CheckedPlan } from '../check/plan.ts';
import type { SharedLimits } from '../limits/shared-limits.ts';
import type { NodePositions } from '../plan/positions.ts';
import type { NodeId, PlanNode } from '../plan/types.ts';
import type { NodeFacts } from '../trace/facts.ts';
import type { NodeTrace, PlanTrace } from '../trace/trace.ts';
import type { SettledNode } from './inputs.ts';

/** The state of a run and its nodes. Nodes go by position. */
export interface PlanState {
  readonly run: number;
  readonly checked: CheckedPlan;
  readonly nodes: readonly PlanNode[];
  /** Masked, as in the log. */
  readonly shown: readonly PlanNode[];
  readonly positions: NodePositions;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly caller: Caller;
  readonly clock: Clock;
  /** A random number from 0 to below 1. */
  readonly random: () => number;
  /** Masked, as in the log. */
  readonly facts: (NodeFacts | undefined)[];
  /** The ends of nodes for references: unmasked, as far as this process knows the values. */
  readonly settled: (SettledNode | undefined)[];
  readonly settledOf: (id: NodeId) => SettledNode | undefined;
  /** Positions of ended nodes whose dependents are skipped. */
  readonly skips: Set<number>;
  /** Positions of nodes whose inputs or results are known only masked. */
  readonly masked: Set<number>;
  /** Absent if there is no listener. */
  readonly emit: ((event: PlanEvent) => void) | undefined;
}

export interface ConductOptions {
  readonly maxConcurrency: number;
  readonly lockTimeoutMs: number | undefined;
  readonly limits: SharedLimits;
  /** Aborts the running calls. */
  readonly cancel: () => void;
  /** Positions of nodes with a call from before: started, or waiting for approval. */
  readonly open: ReadonlySet<number>;
  /** Positions of nodes that ended before, in the order of ending. */
  readonly ended: readonly number[];
}

/** The reason why a run ended before all of its nodes. */
export type Stop =
  | { readonly type: 'halted'; readonly by: number }
  | { readonly type: 'aborted'; readonly by: EndOfLife };

/** The reason why a node that could start has to wait: locks, or the rate limit of its tool. */
export type NodeWait =
  | { readonly type: 'locks'; readonly names: readonly string[] }
  | { readonly type: 'rate'; readonly untilMs: number };

/** Events of a plan's run, in order. Events of parallel nodes interleave. Times are milliseconds since 1970. */
export type PlanEvent =
  | {
      readonly type: 'plan-start' | 'plan-resume';
      readonly sessionId: string;
      readonly run: number;
      readonly digest: string;
      /** The state of all nodes, in plan order. */
      readonly nodes: readonly NodeTrace[];
      readonly atMs: number;
    }
  | { readonly type: 'node-wait'; readonly node: NodeId; readonly wait: NodeWait; readonly atMs: number }
  | { readonly type: 'node-start'; readonly node: NodeId; readonly callId: string; readonly atMs: number }
  /** Exactly one per ended node. A node with the kind `suspended` has not ended; it gets another event after it is resumed. */
  | { readonly type: 'node-end'; readonly node: NodeTrace; readonly atMs: number }
  | { readonly type: 'plan-end'; readonly trace: PlanTrace; readonly atMs: number }
  /** Events of the calls: `tool-call-start`, `approval-request`, ... */
  | RunEvent;
