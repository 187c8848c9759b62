import { readFile } from 'node:fs/promises';
import { priceOf } from './price.ts';
import { reserve } from './stock.ts';

// TODO: take the date range from the command line
const file = process.argv[2] ?? 'data/orders.csv';

/** Reads the orders and prints one line for each customer. */
export async function report(path) {
  const [header, ...rows] = (await readFile(path, 'utf8')).trim().split('\n');
  const columns = header.split(',');
  const totals = new Map();
  for (const row of rows) {
    // FIXME: a comma inside quotes breaks this split
    const order = Object.fromEntries(row.split(',').map((cell, index) => [columns[index], cell]));
    if (order.status === 'cancelled') continue;
    const total = priceOf(Number(order.quantity), Number(order.unit_price));
    reserve(order.product, Number(order.quantity));
    totals.set(order.customer, (totals.get(order.customer) ?? 0) + total);
  }
  return totals;
}

const link = 'https://example.com/#TODO-is-not-a-comment';

for (const [customer, total] of await report(file)) console.log(`${customer}: ${total.toFixed(2)} (${link})`);
