import { HoldfastError } from '@holdfast/core';
import type { NodeId } from './plan.ts';
import { PositionHeap } from './position-heap.ts';

const waits = 0;
const underWay = 1;
const settled = 2;

/**
 * Which node of a plan is next. Nodes go by their places. One that has been handed out counts as under way until it is settled or put
 * back. Each edge is looked at once, and a node costs no more in a large plan than the way through a heap.
 */
export class Schedule {
  readonly #waitsFor: Int32Array;
  /** Those that wait for the node at `position` are at `#edges[#starts[position]]` and what follows, up to the start of the next. */
  readonly #starts: Int32Array;
  readonly #edges: Int32Array;
  readonly #states: Uint8Array;
  readonly #ready = new PositionHeap();
  #unsettled: number;
  #underWay = 0;

  /** `parents`: what each node waits for. */
  constructor(parents: readonly (readonly number[])[]) {
    const count = parents.length;
    this.#unsettled = count;
    this.#waitsFor = Int32Array.from(parents, ({ length }) => length);
    this.#starts = new Int32Array(count + 1);
    this.#states = new Uint8Array(count);
    for (const waitedFor of parents)
      for (const parent of waitedFor) this.#starts[parent + 1] = this.#at(parent + 1) + 1;
    for (let position = 0; position < count; position += 1) {
      this.#starts[position + 1] = this.#at(position) + this.#at(position + 1);
    }
    this.#edges = new Int32Array(this.#at(count));
    const next = this.#starts.slice();
    for (let position = 0; position < count; position += 1) {
      const waitedFor = parents[position] ?? [];
      for (const parent of waitedFor) {
        const index = next[parent] ?? 0;
        this.#edges[index] = position;
        next[parent] = index + 1;
      }
      if (waitedFor.length === 0) this.#ready.push(position);
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

  /** Has the node at `position`, which was handed out, be handed out again. */
  putBack(position: number): void {
    this.#states[position] = waits;
    this.#underWay -= 1;
    this.#ready.push(position);
  }

  /** To be called once for a node that has ended, handed out or not: what waits for nothing else can start. */
  settle(position: number): void {
    if (this.#states[position] === underWay) this.#underWay -= 1;
    this.#states[position] = settled;
    this.#unsettled -= 1;
    const end = this.#at(position + 1);
    for (let index = this.#at(position); index < end; index += 1) {
      const waiting = this.#edges[index] ?? 0;
      const left = (this.#waitsFor[waiting] ?? 0) - 1;
      this.#waitsFor[waiting] = left;
      if (left === 0) this.#ready.push(waiting);
    }
  }

  #at(position: number): number {
    return this.#starts[position] ?? 0;
  }
}

/** `ids`: nodes that nothing can start. */
export function blockedError(ids: readonly NodeId[]): HoldfastError {
  const shown = ids.slice(0, 20).map((id) => `\`${id}\``);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  return new HoldfastError(
    'plan.blocked',
    `The plan cannot go on: ${shown.join(', ')}${more} wait for each other. Check it by \`checkPlan\` before it runs.`,
    { data: { nodes: ids.slice(0, 1_000) } },
  );
}
