import type { HoldfastError } from '@holdfast/core';
import { type Edges, PositionQueue } from '../plan/positions.ts';
import type { NodeId } from '../plan/types.ts';
import { planError } from '../plan/violations.ts';

const waits = 0;
const underWay = 1;
const settled = 2;

/**
 * Decides which node of a plan is next. Nodes go by position. A node returned by `next` counts as running until it is settled or put back.
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
    // Descending, which is the cheapest order for the queue; the same below.
    for (let position = waitsFor.length - 1; position >= 0; position -= 1) {
      if (waitsFor[position] === 0) this.#ready.push(position);
    }
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  /** True if nodes are left, but none is running and none can start. */
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

  /** The first node in plan order that is not running and whose dependencies have all ended. */
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

  /** Makes a node returned by `next` available again, unless it has ended. */
  putBack(position: number): void {
    if (this.isSettled(position)) return;
    this.#states[position] = waits;
    this.#underWay -= 1;
    this.#ready.push(position);
  }

  /** Marks a node as ended, whether `next` returned it or not, and makes its dependents available. Call once per node. */
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

/** `nodes`: those that cannot start. */
export function blockedError(nodes: readonly { readonly id: NodeId }[]): HoldfastError {
  const ids = nodes.map(({ id }) => id);
  const shown = ids.slice(0, 20).map((id) => `\`${id}\``);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  return planError(
    'blocked',
    `The plan cannot continue: ${shown.join(', ')}${more} depend on each other. Check plans with \`checkPlan\` before running them.`,
    { data: { nodes: ids.slice(0, 1_000) } },
  );
}
