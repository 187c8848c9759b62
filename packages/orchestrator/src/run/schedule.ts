import { HoldfastError } from '@holdfast/core';
import { type Edges, PositionQueue } from '../plan/positions.ts';
import type { NodeId } from '../plan/types.ts';

const waits = 0;
const underWay = 1;
const settled = 2;

/**
 * Which node of a plan is next. Nodes go by their places. One that has been handed out counts as under way until it is settled or put
 * back.
 */
export class Schedule {
  readonly #edges: Edges;
  readonly #waitsFor: Int32Array;
  readonly #states: Uint8Array;
  readonly #ready = new PositionQueue();
  #unsettled: number;
  #underWay = 0;

  constructor(edges: Edges) {
    const { waitsFor } = edges;
    this.#edges = edges;
    this.#waitsFor = waitsFor.slice();
    this.#states = new Uint8Array(waitsFor.length);
    this.#unsettled = waitsFor.length;
    // The last ones first, which costs a queue the least; below, too.
    for (let position = waitsFor.length - 1; position >= 0; position -= 1) {
      if (waitsFor[position] === 0) this.#ready.push(position);
    }
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  /** Something is left, of which nothing is under way and nothing can start. */
  get blocked(): boolean {
    return this.#underWay === 0 && this.#ready.size === 0 && this.#unsettled > 0;
  }

  isSettled(position: number): boolean {
    return this.#states[position] === settled;
  }

  isUnderWay(position: number): boolean {
    return this.#states[position] === underWay;
  }

  /** In plan order. */
  listUnsettled(): readonly number[] {
    return Array.from(this.#states.keys()).filter((position) => !this.isSettled(position));
  }

  /** The first node in plan order all of whose parents have settled and that is not under way. */
  next(): number | undefined {
    for (;;) {
      const position = this.#ready.pop();
      if (position === undefined) return undefined;
      if (this.isSettled(position)) continue;
      this.#states[position] = underWay;
      this.#underWay += 1;
      return position;
    }
  }

  /** Has the node at `position`, which was handed out, be handed out again, unless it has settled meanwhile. */
  putBack(position: number): void {
    if (this.isSettled(position)) return;
    this.#states[position] = waits;
    this.#underWay -= 1;
    this.#ready.push(position);
  }

  /** To be called once for a node that has ended, handed out or not: what waits for nothing else can start. */
  settle(position: number): void {
    if (this.#states[position] === underWay) this.#underWay -= 1;
    this.#states[position] = settled;
    this.#unsettled -= 1;
    const { starts, ends } = this.#edges;
    const start = starts[position] ?? 0;
    for (let index = (starts[position + 1] ?? 0) - 1; index >= start; index -= 1) {
      const waiting = ends[index] ?? 0;
      const left = (this.#waitsFor[waiting] ?? 0) - 1;
      this.#waitsFor[waiting] = left;
      if (left === 0) this.#ready.push(waiting);
    }
  }
}

/** `nodes`: those that nothing can start. */
export function blockedError(nodes: readonly { readonly id: NodeId }[]): HoldfastError {
  const ids = nodes.map(({ id }) => id);
  const shown = ids.slice(0, 20).map((id) => `\`${id}\``);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  return new HoldfastError(
    'plan.blocked',
    `The plan cannot go on: ${shown.join(', ')}${more} wait for each other. Check it by \`checkPlan\` before it runs.`,
    { data: { nodes: ids.slice(0, 1_000) } },
  );
}
