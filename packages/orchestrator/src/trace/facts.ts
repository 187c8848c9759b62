import type { OutcomeKind, PendingApproval, ToolCallEndEvent } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import type { NodeId, OnFail } from '../plan/types.ts';

/** How a node ended for which no call was made, as the log has it. */
export interface NodeClosing {
  readonly type: 'plan-node';
  /** The run, as all its records name it. */
  readonly plan: number;
  readonly node: NodeId;
  readonly kind: Exclude<OutcomeKind, 'ok'> | 'skipped';
  readonly code: string;
  readonly message: string;
  /** Nodes because of which it did, in plan order. */
  readonly because: readonly NodeId[];
  readonly atMs: number;
}

/** What is known of a node, with masks where the log has them; `undefined`: it waits. */
export type NodeFacts =
  /** It ended as its call did. */
  | ToolCallEndEvent
  | NodeClosing
  /** Its call waits for a person, or to be gone on with after an answer. */
  | { readonly type: 'suspended'; readonly pending: PendingApproval; readonly answered: boolean }
  | { readonly type: 'running'; readonly callId: string; readonly startedAtMs: number };

/** Made of JSON; an interface does not say so to the compiler. */
export function toLogEntry(closing: NodeClosing): LogEntry {
  return closing as unknown as LogEntry;
}

/** The call of a node: a direct one, whose id no other call of the session has. */
export function toCallId(run: number, node: NodeId): string {
  return `plan_${run}_${node}`;
}

/** Whether the node has ended, with its call or without. */
export function hasEnded(facts: NodeFacts | undefined): facts is ToolCallEndEvent | NodeClosing {
  return facts?.type === 'tool-call-end' || facts?.type === 'plan-node';
}

/** What the end of a node means for others: all goes on; what needs it is skipped; nothing new starts. */
export type Consequence = 'go-on' | 'skip-dependents' | 'halt';

const byWord = { continue: 'go-on', skip_dependents: 'skip-dependents', halt: 'halt' } as const;

/**
 * `on_fail` holds for what failed itself. What was skipped because of others halts nothing: what needs it is skipped, too, unless it
 * had only no inputs and says `continue`.
 */
export function consequenceOf(facts: ToolCallEndEvent | NodeClosing, onFail: OnFail): Consequence {
  if (facts.type === 'tool-call-end') return facts.outcome.kind === 'ok' ? 'go-on' : byWord[onFail];
  if (facts.kind !== 'skipped' && facts.code !== 'plan.aborted') return byWord[onFail];
  return facts.code === 'plan.inputs.unavailable' && onFail === 'continue' ? 'go-on' : 'skip-dependents';
}
