import type { OutcomeKind, PendingApproval, ToolCallEndEvent } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import type { NodeId, OnFail } from '../plan/types.ts';

/** The end of a node without a call, as in the log. */
export interface NodeClosing {
  readonly type: 'plan-node';
  /** The run, as named in all of its records. */
  readonly plan: number;
  readonly node: NodeId;
  readonly kind: Exclude<OutcomeKind, 'ok'> | 'skipped';
  readonly code: string;
  readonly reason?: string | undefined;
  readonly message: string;
  /** The nodes at fault, in plan order. */
  readonly because: readonly NodeId[];
  readonly atMs: number;
}

/** The facts of a node, masked as in the log; `undefined`: it has not started. */
export type NodeFacts =
  /** It ended like its call. */
  | ToolCallEndEvent
  | NodeClosing
  /** Its call waits for approval, or to be resumed after an answer. */
  | { readonly type: 'suspended'; readonly pending: PendingApproval; readonly answered: boolean }
  | { readonly type: 'running'; readonly callId: string; readonly startedAtMs: number };

/** Built from JSON, but the interface has no index signature. */
export function toLogEntry(closing: NodeClosing): LogEntry {
  return closing as unknown as LogEntry;
}

/** The id of a node's direct call, unique in the session. */
export function toCallId(run: number, node: NodeId): string {
  return `plan_${run}_${node}`;
}

/** True if the node has ended, with or without a call. */
export function hasEnded(facts: NodeFacts | undefined): facts is ToolCallEndEvent | NodeClosing {
  return facts?.type === 'tool-call-end' || facts?.type === 'plan-node';
}

/** The effect of a node's end on others: none; dependents are skipped; nothing else starts. */
export type Consequence = 'go-on' | 'skip-dependents' | 'halt';

const byWord = { continue: 'go-on', skip_dependents: 'skip-dependents', halt: 'halt' } as const;

/**
 * `on_fail` applies to nodes that failed themselves. A skipped node never halts the run: its dependents are skipped too, unless it was
 * skipped only for lack of inputs and has `continue`.
 */
export function consequenceOf(facts: ToolCallEndEvent | NodeClosing, onFail: OnFail): Consequence {
  if (facts.type === 'tool-call-end') return facts.outcome.kind === 'ok' ? 'go-on' : byWord[onFail];
  if (facts.kind !== 'skipped' && facts.code !== 'plan.aborted') return byWord[onFail];
  return facts.code === 'plan.inputs.unavailable' && onFail === 'continue' ? 'go-on' : 'skip-dependents';
}
