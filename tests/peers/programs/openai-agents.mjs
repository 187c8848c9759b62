import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
import { refundOrder, url } from './desk.mjs';

const refund = tool({
  name: 'refund',
  description: 'Refund an order.',
  parameters: z.object({ order: z.number(), euros: z.number() }),
  execute: ({ order, euros }) => refundOrder(order, euros),
});
const agent = new Agent({ name: 'desk', instructions: 'Help with orders.', tools: [refund], model: 'gpt-5' });
const runner = new Runner({
  modelProvider: new OpenAIProvider({ baseURL: url, apiKey: 'none', useResponses: false }),
  tracingDisabled: true,
});
const { finalOutput } = await runner.run(agent, 'Refund order 17.');
console.log(finalOutput);
