import type { NodeId, Plan } from './plan.ts';

/** A plan's nodes by their places in it. */
export interface NodePositions {
  readonly byId: ReadonlyMap<NodeId, number>;
  /** Places of what each node waits for, in plan order. */
  readonly parents: readonly (readonly number[])[];
}

/** What is named and is not there is passed over. */
export function indexNodes({ nodes }: Plan): NodePositions {
  const byId = new Map<NodeId, number>();
  for (const [position, { id }] of nodes.entries()) byId.set(id, position);
  const parents = nodes.map(({ depends_on: ids }) => {
    const places: number[] = [];
    for (const id of ids) {
      const position = byId.get(id);
      if (position !== undefined) places.push(position);
    }
    return places;
  });
  return { byId, parents };
}
