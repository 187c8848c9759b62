import { defineTool } from '@holdfast/kit';
import { z } from 'zod';
import { approveRefund } from './refund.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  inputSchema: z.object({ order: z.int(), euros: z.number().positive() }),
  effects: 'external',
  execute({ order, euros }) {
    // @ts-expect-error: the schema gives `order` its type, which is no string.
    order satisfies string;
    return `${euros.toFixed(2)} euros for order ${order}`;
  },
});

export const run = (): Promise<string> => approveRefund(refund);
