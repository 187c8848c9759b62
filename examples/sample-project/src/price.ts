const taxRate = 0.19;

/**
 * The price of some pieces of a product, with tax.
 *
 * TODO(mara): read the tax rate from config/shop.json
 */
export function priceOf(quantity: number, unitPrice: number): number {
  const net = quantity * unitPrice * (1 - discountFor(quantity));
  return Math.round(net * (1 + taxRate) * 100) / 100;
}

function discountFor(quantity: number): number {
  // HACK: agreed with the wholesaler by phone, nobody wrote it down
  if (quantity >= 20) return 0.12;
  return quantity >= 10 ? 0.05 : 0;
}
