import type { ToolCallEndEvent } from '@holdfast/core';
import { hasMask, toReason } from '@holdfast/core/internal';
import type { Suspended } from '@holdfast/executor';
import type { EndOfLife } from '@holdfast/executor/internal';
import type { NodeId, PlanNode } from '../plan/types.ts';
import { traceNode } from '../trace/build.ts';
import { type Consequence, consequenceOf, hasEnded, type NodeClosing, toCallId, toLogEntry } from '../trace/facts.ts';
import type { SettledNode } from './inputs.ts';
import type { NodeWait, PlanState } from './state.ts';

/** The end of a node without a call. */
export type NodeEnd = { readonly type: 'ended' } & Pick<
  NodeClosing,
  'kind' | 'code' | 'reason' | 'message' | 'because'
>;

/** Records the state of each node, by position: in the facts of the run, in the log, and as events. */
export class PlanLedger {
  readonly #state: PlanState;

  constructor(state: PlanState) {
    this.#state = state;
  }

  nodeAt(position: number): PlanNode {
    return this.#state.nodes[position] as PlanNode;
  }

  callIdOf(position: number): string {
    return toCallId(this.#state.run, this.nodeAt(position).id);
  }

  noteStart(position: number): void {
    const { emit, clock } = this.#state;
    if (emit === undefined) return;
    emit({ type: 'node-start', node: this.nodeAt(position).id, callId: this.callIdOf(position), atMs: clock.now() });
  }

  noteWait(position: number, wait: NodeWait): void {
    const { emit, clock } = this.#state;
    emit?.({ type: 'node-wait', node: this.nodeAt(position).id, wait, atMs: clock.now() });
  }

  /** The log already has this record. */
  noteCall(position: number, event: ToolCallEndEvent): void {
    this.#state.facts[position] = this.#mask(event);
  }

  /** Records that the host ended the call outside of the run; the log already has it. */
  noteForeign(position: number, event: ToolCallEndEvent): void {
    const { facts, masked } = this.#state;
    facts[position] = event;
    if (hasMask([event.outcome.message, event.outcome.value])) masked.add(position);
    this.settle(position, event.outcome);
  }

  noteAnswer(position: number, digest: string): void {
    const { facts } = this.#state;
    const known = facts[position];
    if (known?.type === 'suspended' && known.pending.digest === digest) facts[position] = { ...known, answered: true };
  }

  noteSuspended(position: number, { pending: [question] }: Suspended): void {
    if (question === undefined) return;
    const { pending } = this.#mask({ type: 'approval-request', pending: question });
    this.#state.facts[position] = { type: 'suspended', pending, answered: false };
    this.#tellEnd(position);
  }

  /** Ends a node without a call. @throws the error of a log that cannot be written. */
  close(position: number, { kind, code, reason, message, because }: NodeEnd): void {
    const { run, caller, facts, clock } = this.#state;
    const node = this.nodeAt(position).id;
    const closing: NodeClosing = {
      type: 'plan-node',
      plan: run,
      node,
      kind,
      code,
      ...toReason({ reason }),
      message,
      because,
      atMs: clock.now(),
    };
    caller.session.record(toLogEntry(closing));
    facts[position] = this.#mask(closing);
    this.settle(position, { kind, message, value: null });
  }

  /** Records the final facts of the node. */
  settle(position: number, outcome: SettledNode): void {
    this.#state.settled[position] = outcome;
    this.#tellEnd(position);
  }

  /** Determines and records the effect of the node's end on other nodes. */
  noteConsequence(position: number): Consequence {
    const { facts, skips } = this.#state;
    const known = facts[position];
    const consequence = hasEnded(known) ? consequenceOf(known, this.nodeAt(position).on_fail) : 'go-on';
    if (consequence === 'skip-dependents') skips.add(position);
    return consequence;
  }

  /** Masks secrets, as in the log. */
  #mask<Fact extends { readonly type: string }>(fact: Fact): Fact {
    const { redactor } = this.#state.caller.session;
    return redactor === undefined ? fact : redactor.maskRecord(fact);
  }

  #tellEnd(position: number): void {
    const { shown, facts, emit, clock } = this.#state;
    emit?.({ type: 'node-end', node: traceNode(shown[position] as PlanNode, facts[position]), atMs: clock.now() });
  }
}

/** The end of a node that timed out waiting for locks. */
export function lockedOut(names: readonly string[], waitedMs: number): NodeEnd {
  const locks = names.map((name) => `\`${name}\``).join(', ');
  const message = `Other calls held its locks (${locks}) for ${waitedMs} ms, the longest a node may wait. Nothing was run.`;
  return { type: 'ended', kind: 'timed-out', code: 'lock.timeout', message, because: [] };
}

const ends = {
  aborted: 'The run was cancelled',
  deadline: 'The deadline of the run passed',
  budget: 'The time budget was used up',
} as const;

/** The end of nodes that had not started when the run's time was over. */
export function cutOff(endedBy: EndOfLife): NodeEnd {
  const message = `${ends[endedBy]} before this node began.`;
  return { type: 'ended', kind: 'cancelled', code: 'plan.aborted', message, because: [] };
}

/** The end of nodes that had not started when the node `by` halted the run. */
export function halted(by: NodeId): NodeEnd {
  const message = `The run was halted because \`${by}\` did not succeed.`;
  return { type: 'ended', kind: 'skipped', code: 'plan.halted', message, because: [by] };
}
