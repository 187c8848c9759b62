import { defineTool } from '@holdfast/kit';
import { type } from 'arktype';
import { approveRefund } from './refund.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  inputSchema: type({ order: 'number.integer', euros: 'number > 0' }),
  effects: 'external',
  execute({ order, euros }) {
    // @ts-expect-error: the schema gives `order` its type, which is no string.
    order satisfies string;
    return `${euros.toFixed(2)} euros for order ${order}`;
  },
});

export const run = (): Promise<string> => approveRefund(refund);
