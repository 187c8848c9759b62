import { defineTool } from '@holdfast/kit';
import * as v from 'valibot';
import { approveRefund } from './refund.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  inputSchema: v.object({ order: v.pipe(v.number(), v.integer()), euros: v.pipe(v.number(), v.minValue(1)) }),
  effects: 'external',
  execute({ order, euros }) {
    // @ts-expect-error: the schema gives `order` its type, which is no string.
    order satisfies string;
    return `${euros.toFixed(2)} euros for order ${order}`;
  },
});

export const run = (): Promise<string> => approveRefund(refund);
