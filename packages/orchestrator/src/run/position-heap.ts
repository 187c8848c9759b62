/** Places of nodes in their plan, of which the first comes out first. */
export class PositionHeap {
  readonly #items: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(position: number): void {
    const items = this.#items;
    let index = items.length;
    items.push(position);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const other = items[above] ?? position;
      if (other <= position) break;
      items[index] = other;
      index = above;
    }
    items[index] = position;
  }

  pop(): number | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      const left = items[below];
      if (left === undefined) break;
      const right = items[below + 1] ?? left;
      let least = left;
      if (right < left) {
        below += 1;
        least = right;
      }
      if (last <= least) break;
      items[index] = least;
      index = below;
    }
    items[index] = last;
    return first;
  }
}
