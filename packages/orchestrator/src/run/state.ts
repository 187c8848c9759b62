import type { Clock, RunEvent, Tool } from '@holdfast/core';
import type { Caller, EndOfLife } from '@holdfast/executor';
import type { CheckedPlan } from '../check/plan.ts';
import type { SharedLimits } from '../limits/shared-limits.ts';
import type { NodePositions } from '../plan/positions.ts';
import type { NodeId, PlanNode } from '../plan/types.ts';
import type { NodeFacts } from '../trace/facts.ts';
import type { NodeTrace, PlanTrace } from '../trace/trace.ts';
import type { SettledNode } from './inputs.ts';

/** A run of a plan and what is known of its nodes, which go by their places in it. */
export interface PlanState {
  readonly run: number;
  readonly checked: CheckedPlan;
  readonly nodes: readonly PlanNode[];
  /** With masks, as the log has them. */
  readonly shown: readonly PlanNode[];
  readonly positions: NodePositions;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly caller: Caller;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** With masks, as the log has them. */
  readonly facts: (NodeFacts | undefined)[];
  /** As others refer to it: without masks, as far as this process knows. */
  readonly settled: (SettledNode | undefined)[];
  readonly settledOf: (id: NodeId) => SettledNode | undefined;
  /** Places of nodes that have ended and whose dependants are skipped. */
  readonly skips: Set<number>;
  /** Places of nodes whose inputs are masked in the log, or whose results are: nothing else is known of them here. */
  readonly masked: Set<number>;
  /** Absent when nobody listens. */
  readonly emit: ((event: PlanEvent) => void) | undefined;
}

export interface ConductOptions {
  readonly maxConcurrency: number;
  readonly lockTimeoutMs: number | undefined;
  readonly limits: SharedLimits;
  /** Has the calls under way stop. */
  readonly cancel: () => void;
  /** Places of nodes whose calls were begun, or wait for a person, since before. */
  readonly open: ReadonlySet<number>;
  /** Those of nodes that have ended before, in the order in which they did. */
  readonly ended: readonly number[];
}

/** Why a run came to its end before all nodes had ended. */
export type Stop =
  | { readonly type: 'halted'; readonly by: number }
  | { readonly type: 'aborted'; readonly by: EndOfLife };

/** What a node that could start waits for: names of locks, or the rate limit of its tool. */
export type NodeWait =
  | { readonly type: 'locks'; readonly names: readonly string[] }
  | { readonly type: 'rate'; readonly untilMs: number };

/** What observers of a plan's run see, in order; live, so nodes that run beside each other interleave. Times are milliseconds since 1970. */
export type PlanEvent =
  | {
      readonly type: 'plan-start' | 'plan-resume';
      readonly sessionId: string;
      readonly run: number;
      readonly digest: string;
      /** How all nodes stand, in plan order. */
      readonly nodes: readonly NodeTrace[];
      readonly atMs: number;
    }
  | { readonly type: 'node-wait'; readonly node: NodeId; readonly wait: NodeWait; readonly atMs: number }
  | { readonly type: 'node-start'; readonly node: NodeId; readonly callId: string; readonly atMs: number }
  /** Exactly one for every node that ends; one with the kind `suspended` has not ended, and gets another when it is gone on with. */
  | { readonly type: 'node-end'; readonly node: NodeTrace; readonly atMs: number }
  | { readonly type: 'plan-end'; readonly trace: PlanTrace; readonly atMs: number }
  /** Of the calls: `tool-call-start`, `approval-request`, ... */
  | RunEvent;
