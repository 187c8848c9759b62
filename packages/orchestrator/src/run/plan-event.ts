import type { RunEvent } from '@holdfast/core';
import type { NodeId } from '../plan/types.ts';
import type { NodeTrace, PlanTrace } from '../trace/trace.ts';

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
