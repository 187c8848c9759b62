import type { RunEvent } from '@holdfast/core';
import type { NodeId, NodeKind, NodeTrace, NodeWait, PlanEvent } from '@holdfast/orchestrator';
import { formatDuration } from '../calls/line.ts';

/** How a node stands while its plan runs. */
export interface NodeProgress {
  readonly node: NodeId;
  readonly tool: string;
  readonly dependsOn: readonly NodeId[];
  readonly kind: NodeKind;
  /** Its stable reason, and what it says, once it has ended otherwise than well. */
  readonly code: string | undefined;
  readonly message: string;
  readonly because: readonly NodeId[];
  readonly attempts: number;
  readonly startedAtMs: number | undefined;
  readonly durationMs: number | undefined;
  /** What a node that could start waits for. */
  readonly wait: NodeWait | undefined;
  /** The last word of the tool, or of its attempts. */
  readonly note: string;
  /** From then on `note` says nothing any more. */
  readonly noteUntilMs: number | undefined;
}

/** Follows the nodes of a plan by the events of its run. */
export class PlanProgress {
  readonly #nodes: NodeProgress[] = [];
  readonly #positions = new Map<NodeId, number>();
  readonly #byCall = new Map<string, number>();
  readonly #counts = new Map<NodeKind, number>();
  /** Positions of nodes that run, or wait for something else than other nodes. */
  readonly #moving = new Set<number>();
  // Everything before it has ended: what waits need not be looked for there.
  #firstOpen = 0;
  #startedAtMs: number | undefined;

  apply(event: PlanEvent): void {
    switch (event.type) {
      case 'plan-start':
      case 'plan-resume':
        this.#begin(event.nodes, event.atMs);
        break;
      case 'node-wait':
        this.#change(this.#positions.get(event.node), { wait: event.wait });
        break;
      case 'node-start': {
        const position = this.#positions.get(event.node);
        if (position !== undefined) this.#byCall.set(event.callId, position);
        this.#change(position, { kind: 'running', startedAtMs: event.atMs, attempts: 1, wait: undefined });
        break;
      }
      case 'node-end':
        this.#end(event.node);
        break;
      case 'tool-call-progress':
        this.#change(this.#byCall.get(event.callId), { note: event.message, noteUntilMs: undefined });
        break;
      case 'tool-call-start':
        if (event.parentId !== undefined) this.#noteCall(event.parentId, event.name);
        break;
      case 'child-event': {
        const inner = findInnermost(event);
        if (inner.type === 'tool-call-start') this.#noteCall(event.callId, inner.name);
        break;
      }
      case 'tool-call-retry': {
        const note = `attempt ${event.attempt} failed, the next in ${formatDuration(event.delayMs)}`;
        const noteUntilMs = event.atMs + event.delayMs;
        this.#change(this.#byCall.get(event.callId), { note, noteUntilMs, attempts: event.attempt + 1 });
        break;
      }
      default:
        break;
    }
  }

  get nodes(): readonly NodeProgress[] {
    return this.#nodes;
  }

  /** How many nodes are in a state. */
  get counts(): ReadonlyMap<NodeKind, number> {
    return this.#counts;
  }

  /** Nodes of which nothing more will come. */
  get ended(): number {
    return this.#nodes.length - this.count('waiting') - this.count('running') - this.count('suspended');
  }

  /** When what is followed began: the run, or what is left of one that is gone on with. */
  get startedAtMs(): number | undefined {
    return this.#startedAtMs;
  }

  count(kind: NodeKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  find(node: NodeId): NodeProgress | undefined {
    return this.#nodes[this.#positions.get(node) ?? -1];
  }

  /** Nodes that have not ended, in plan order, at most `max`; those that only wait for others come after all that moves. */
  listOpen(max: number): readonly NodeProgress[] {
    const moving = [...this.#moving].sort((left, right) => left - right).slice(0, max);
    const waiting: number[] = [];
    while (isSettled(this.#nodes[this.#firstOpen])) this.#firstOpen += 1;
    for (let at = this.#firstOpen; at < this.#nodes.length && moving.length + waiting.length < max; at += 1) {
      if (!isSettled(this.#nodes[at]) && !this.#moving.has(at)) waiting.push(at);
    }
    return [...moving, ...waiting].flatMap((position) => this.#nodes[position] ?? []);
  }

  /** The nodes that a node still waits for, in plan order. */
  listMissing({ dependsOn }: NodeProgress): readonly NodeId[] {
    return dependsOn.filter((id) => !isSettled(this.find(id)));
  }

  #begin(nodes: readonly NodeTrace[], atMs: number): void {
    this.#startedAtMs ??= atMs;
    this.#nodes.length = 0;
    this.#counts.clear();
    this.#positions.clear();
    this.#moving.clear();
    this.#firstOpen = 0;
    for (const [position, node] of nodes.entries()) {
      this.#positions.set(node.node, position);
      if (node.callId !== undefined) this.#byCall.set(node.callId, position);
      this.#put(position, toProgress(node), undefined);
    }
  }

  #end(node: NodeTrace): void {
    const position = this.#positions.get(node.node);
    const before = this.#nodes[position ?? -1];
    if (position === undefined || before === undefined) return;
    this.#put(position, toProgress(node), before);
  }

  #change(position: number | undefined, changes: Partial<NodeProgress>): void {
    const before = position === undefined ? undefined : this.#nodes[position];
    // What comes after its end, as a late word of a tool, changes nothing.
    if (position === undefined || before === undefined || isSettled(before)) return;
    this.#put(position, { ...before, ...changes }, before);
  }

  /** What a node is at that makes calls itself. */
  #noteCall(callId: string, name: string): void {
    this.#change(this.#byCall.get(callId), { note: `calls ${name}`, noteUntilMs: undefined });
  }

  #put(position: number, node: NodeProgress, before: NodeProgress | undefined): void {
    this.#nodes[position] = node;
    if (before !== undefined) this.#counts.set(before.kind, this.count(before.kind) - 1);
    this.#counts.set(node.kind, this.count(node.kind) + 1);
    const isMoving = !isSettled(node) && (node.kind !== 'waiting' || node.wait !== undefined);
    if (isMoving) this.#moving.add(position);
    else this.#moving.delete(position);
  }
}

function toProgress(trace: NodeTrace): NodeProgress {
  const { node, tool, dependsOn, kind, code, message, because, attempts, startedAtMs, durationMs } = trace;
  const known = { node, tool, dependsOn, kind, code, message, because, attempts, startedAtMs, durationMs };
  return { ...known, wait: undefined, note: '', noteUntilMs: undefined };
}

function findInnermost(event: RunEvent): RunEvent {
  let inner = event;
  while (inner.type === 'child-event') inner = inner.event;
  return inner;
}

/** Whether nothing more will come of a node. */
export function isSettled(node: NodeProgress | undefined): boolean {
  return node !== undefined && node.kind !== 'waiting' && node.kind !== 'running' && node.kind !== 'suspended';
}
