import { defineTool, isHoldfastError, jsonSchema, runAgent } from '@holdfast/kit';
import { scriptedModel } from '@holdfast/testing';
import * as z from 'zod/mini';
import { approveRefund, check, type Refund } from './refund.ts';

const inputSchema = z.object({ order: z.int(), euros: z.number().check(z.positive()) });
const shared = { name: 'refund', description: 'Refund an order.', effects: 'external' } as const;

/** The schema is refused with what to write instead, and that works. */
export async function run(): Promise<string> {
  const refused = defineTool({ ...shared, inputSchema, execute: ({ euros }) => euros });
  const model = scriptedModel([{ text: 'Done.' }]);
  try {
    await runAgent({ model, instructions: 'Help with orders.', tools: [refused], input: 'Refund order 17.' });
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    check('the error', [thrown.code, thrown.data], ['schema.invalid', { vendor: 'zod', reason: 'zod_mini' }]);
    check('its advice', thrown.message.includes('jsonSchema(z.toJSONSchema(schema))'), true);
    return approveRefund(
      defineTool({
        ...shared,
        inputSchema: jsonSchema<Refund>(z.toJSONSchema(inputSchema)),
        execute: ({ order, euros }) => `${euros.toFixed(2)} euros for order ${order}`,
      }),
    );
  }
  throw new Error('a schema of zod/mini was taken');
}
