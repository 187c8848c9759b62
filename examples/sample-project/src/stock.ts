const stock = new Map<string, number>([
  ['bell', 120],
  ['chain', 45],
  ['helmet', 30],
  ['lamp', 64],
  ['tyre', 80],
]);

/** Takes pieces out of the stock and says how many are left. */
export function reserve(product: string, quantity: number): number {
  const left = (stock.get(product) ?? 0) - quantity;
  // TODO: order again when fewer than ten are left
  stock.set(product, Math.max(left, 0));
  return left;
}

/* FIXME: two orders at the same moment can
   both take the last piece */
export function available(product: string): number {
  return stock.get(product) ?? 0;
}
