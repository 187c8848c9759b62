import { hasMask, type ToolCallEndEvent } from '@holdfast/core';
import type { EndOfLife, Suspended } from '@holdfast/executor';
import type { NodeId, PlanNode } from '../plan/types.ts';
import { traceNode } from '../trace/build.ts';
import { type Consequence, consequenceOf, hasEnded, type NodeClosing, toCallId, toLogEntry } from '../trace/facts.ts';
import type { SettledNode } from './inputs.ts';
import type { NodeWait, PlanState } from './state.ts';

/** How a node ends for which no call is made. */
export type NodeEnd = { readonly type: 'ended' } & Pick<NodeClosing, 'kind' | 'code' | 'message' | 'because'>;

/** Keeps account of the nodes of a run, which go by their places: in its facts, in the log, and for who listens. */
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

  /** The log has it already. */
  noteCall(position: number, event: ToolCallEndEvent): void {
    this.#state.facts[position] = this.#mask(event);
  }

  /** Ended by the host, as the log has it. */
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

  /** Ends a node without a call. @throws what the log throws that cannot be written. */
  close(position: number, { kind, code, message, because }: NodeEnd): void {
    const { run, caller, facts, clock } = this.#state;
    const node = this.nodeAt(position).id;
    const closing: NodeClosing = {
      type: 'plan-node',
      plan: run,
      node,
      kind,
      code,
      message,
      because,
      atMs: clock.now(),
    };
    caller.session.record(toLogEntry(closing));
    facts[position] = this.#mask(closing);
    this.settle(position, { kind, message, value: null });
  }

  /** What is known of the node is all that there will be. */
  settle(position: number, outcome: SettledNode): void {
    this.#state.settled[position] = outcome;
    this.#tellEnd(position);
  }

  /** What the end of the node means for others, also for those that ask later. */
  noteConsequence(position: number): Consequence {
    const { facts, skips } = this.#state;
    const known = facts[position];
    const consequence = hasEnded(known) ? consequenceOf(known, this.nodeAt(position).on_fail) : 'go-on';
    if (consequence === 'skip-dependents') skips.add(position);
    return consequence;
  }

  /** As the log has it. */
  #mask<Fact extends { readonly type: string }>(fact: Fact): Fact {
    const { redactor } = this.#state.caller.session;
    return redactor === undefined ? fact : redactor.maskRecord(fact);
  }

  #tellEnd(position: number): void {
    const { shown, facts, emit, clock } = this.#state;
    emit?.({ type: 'node-end', node: traceNode(shown[position] as PlanNode, facts[position]), atMs: clock.now() });
  }
}

/** What a node ends as that others kept from what it works on. */
export function lockedOut(names: readonly string[], waitedMs: number): NodeEnd {
  const locks = names.map((name) => `\`${name}\``).join(', ');
  const message = `Others held what it works on (${locks}) for ${waitedMs} ms, which is as long as a node may wait. Nothing was run.`;
  return { type: 'ended', kind: 'timed-out', code: 'lock.timeout', message, because: [] };
}

const ends = {
  aborted: 'The run was cancelled',
  deadline: 'The deadline of the run passed',
  budget: 'The time of the budget was used up',
} as const;

/** What nodes end as that had not begun when the time of the run was over. */
export function cutOff(endedBy: EndOfLife): NodeEnd {
  const message = `${ends[endedBy]} before this node began.`;
  return { type: 'ended', kind: 'cancelled', code: 'plan.aborted', message, because: [] };
}

/** What nodes end as that had not begun when the node `by` had to halt the run. */
export function halted(by: NodeId): NodeEnd {
  const message = `The run was halted, as \`${by}\` did not succeed.`;
  return { type: 'ended', kind: 'skipped', code: 'plan.halted', message, because: [by] };
}
