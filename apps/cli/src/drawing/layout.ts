/** A graph by index: `needs[3]` are the indexes of the nodes that node 3 depends on. */
export type Needs = readonly (readonly number[])[];

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The positions of a drawn graph, in pixels. */
export interface Layout {
  /** The upper left corner of each node, by index. */
  readonly nodes: readonly Point[];
  /** One per dependency: points from the lower edge of a node to the upper edge of its dependent. */
  readonly edges: readonly (readonly Point[])[];
  readonly width: number;
  readonly height: number;
}

export const nodeWidth = 192;
export const nodeHeight = 46;
const gapX = 20;
/** Between parallel passing edges. */
const passGap = 4;
const gapY = 44;
/** The width that a passing edge takes in a row. */
const passWidth = 12;
const margin = 16;
/** A layer with more nodes is split into several rows, so that wide graphs stay readable. */
const maxRow = 8;
/** An edge over more layers is drawn as one curve; so is every long edge once there are this many bends. */
const maxSpan = 40;
const maxBends = 3_000;

/** An item in a row: a node, or a bend of an edge that passes to a later layer. */
interface Item {
  readonly node: number | undefined;
  readonly width: number;
  readonly above: Item[];
  readonly below: Item[];
  /** Its position in its layer. */
  order: number;
  /** Of its center. */
  x: number;
  y: number;
}

/**
 * A layered drawing: each node below its dependencies (layers by longest path), ordered to reduce crossings (barycenter sweeps), and
 * close to its neighbors. Cyclic dependencies are tolerated. Deterministic.
 */
export function layOut(needs: Needs): Layout {
  const layerOf = findLayers(needs);
  const items = needs.map((_, node) => makeItem(node, nodeWidth));
  const layers: readonly Item[][] = Array.from(
    { length: 1 + layerOf.reduce((last, layer) => Math.max(last, layer), 0) },
    () => [],
  );
  for (const [node, item] of items.entries()) layers[layerOf[node] ?? 0]?.push(item);
  const paths = joinItems(needs, layerOf, items, layers);
  orderLayers(layers);
  const rows = layers.flatMap(toRows);
  placeRows(rows);
  return toLayout(items, paths, rows);
}

function makeItem(node: number | undefined, width: number): Item {
  return { node, width, above: [], below: [], order: 0, x: 0, y: 0 };
}

/** The length of the longest path to each node, ignoring cycles. */
function findLayers(needs: Needs): readonly number[] {
  const layers = needs.map(() => 0);
  const open = needs.map((ids) => ids.length);
  const dependants = needs.map((): number[] => []);
  for (const [node, ids] of needs.entries()) for (const id of ids) dependants[id]?.push(node);
  const ready = open.flatMap((count, node) => (count === 0 ? [node] : []));
  for (const node of ready) {
    const next = (layers[node] ?? 0) + 1;
    for (const dependant of dependants[node] ?? []) {
      layers[dependant] = Math.max(layers[dependant] ?? 0, next);
      open[dependant] = (open[dependant] ?? 0) - 1;
      if (open[dependant] === 0) ready.push(dependant);
    }
  }
  return layers;
}

/** The path of each edge; adds bends to the layers that it passes. */
function joinItems(
  needs: Needs,
  layerOf: readonly number[],
  items: readonly Item[],
  layers: readonly Item[][],
): readonly (readonly Item[])[] {
  let bends = 0;
  return needs.flatMap((ids, node) =>
    ids.flatMap((id) => {
      const from = items[id];
      const to = items[node];
      if (from === undefined || to === undefined) return [];
      const first = (layerOf[id] ?? 0) + 1;
      const span = (layerOf[node] ?? 0) - first;
      const isBent = span > 0 && span <= maxSpan && bends + span <= maxBends;
      const between = isBent ? layers.slice(first, first + span).map((layer) => addBend(layer)) : [];
      bends += between.length;
      const path = [from, ...between, to];
      joinNeighbors(path);
      return [path];
    }),
  );
}

function addBend(layer: Item[]): Item {
  const item = makeItem(undefined, passWidth);
  layer.push(item);
  return item;
}

function joinNeighbors(path: readonly Item[]): void {
  for (const [index, below] of path.entries()) {
    const above = path[index - 1];
    if (above === undefined) continue;
    above.below.push(below);
    below.above.push(above);
  }
}

const sweeps = 8;

function orderLayers(layers: readonly Item[][]): void {
  for (const layer of layers) for (const [order, item] of layer.entries()) item.order = order;
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wanted = new Map(
        layer.map((item) => [item, meanOf(isDown ? item.above : item.below, orderOf) ?? item.order]),
      );
      layer.sort((left, right) => (wanted.get(left) ?? 0) - (wanted.get(right) ?? 0));
      for (const [order, item] of layer.entries()) item.order = order;
    }
  }
}

const orderOf = ({ order }: Item): number => order;
const placeOf = ({ x }: Item): number => x;

function meanOf(items: readonly Item[], numberOf: (item: Item) => number): number | undefined {
  return items.length === 0 ? undefined : items.reduce((sum, item) => sum + numberOf(item), 0) / items.length;
}

function toRows(layer: readonly Item[]): readonly (readonly Item[])[] {
  const rows: Item[][] = [[]];
  const count = layer.reduce((sum, { node }) => (node === undefined ? sum : sum + 1), 0);
  const perRow = Math.ceil(count / Math.ceil(count / maxRow));
  let nodes = 0;
  for (const item of layer) {
    if (item.node !== undefined) {
      if (nodes === perRow) {
        rows.push([]);
        nodes = 0;
      }
      nodes += 1;
    }
    rows.at(-1)?.push(item);
  }
  return rows;
}

/** Moves items toward the center of their neighbors as far as their order allows. */
function placeRows(rows: readonly (readonly Item[])[]): void {
  for (const [index, row] of rows.entries()) {
    for (const item of row) item.y = margin + nodeHeight / 2 + index * (nodeHeight + gapY);
    spread(row, () => 0);
  }
  for (let sweep = 0; sweep < 4; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : rows.toReversed()) {
      spread(row, (item) => meanOf(isDown ? item.above : item.below, placeOf) ?? item.x);
    }
  }
}

/** Places each item at the mean of its positions when the row is filled from the left and from the right. */
function spread(row: readonly Item[], wantedOf: (item: Item) => number): void {
  const wanted = row.map(wantedOf);
  const distances = row.map((item, index) => {
    const before = row[index - 1];
    if (before === undefined) return 0;
    const isPass = before.node === undefined && item.node === undefined;
    return (before.width + item.width) / 2 + (isPass ? passGap : gapX);
  });
  const fromLeft: number[] = [];
  for (const [index, place] of wanted.entries()) {
    fromLeft.push(Math.max(place, (fromLeft.at(-1) ?? Number.NEGATIVE_INFINITY) + (distances[index] ?? 0)));
  }
  let next = Number.POSITIVE_INFINITY;
  for (const [index, item] of [...row.entries()].toReversed()) {
    const fromRight = Math.min(wanted[index] ?? 0, next);
    next = fromRight - (distances[index] ?? 0);
    item.x = ((fromLeft[index] ?? 0) + fromRight) / 2;
  }
}

function toLayout(
  items: readonly Item[],
  paths: readonly (readonly Item[])[],
  rows: readonly (readonly Item[])[],
): Layout {
  const all = rows.flat();
  const left = Math.min(...all.map(({ x, width }) => x - width / 2)) - margin;
  const right = Math.max(...all.map(({ x, width }) => x + width / 2)) + margin;
  for (const item of all) item.x = Math.round(item.x - left);
  return {
    nodes: items.map(({ x, y }) => ({ x: x - nodeWidth / 2, y: y - nodeHeight / 2 })),
    edges: paths.map((path) =>
      path.flatMap(({ x, y }, index) => {
        const upper = { x, y: y - nodeHeight / 2 };
        const lower = { x, y: y + nodeHeight / 2 };
        if (index === 0) return [lower];
        return index === path.length - 1 ? [upper] : [upper, lower];
      }),
    ),
    width: Math.ceil(right - left),
    height: rows.length * (nodeHeight + gapY) - gapY + 2 * margin,
  };
}
