import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { refundOrder, url } from './desk.mjs';

const refund = createTool({
  id: 'refund',
  description: 'Refund an order.',
  inputSchema: z.object({ order: z.number(), euros: z.number() }),
  execute: ({ order, euros }) => refundOrder(order, euros),
});
const agent = new Agent({
  name: 'desk',
  instructions: 'Help with orders.',
  model: createOpenAI({ baseURL: url, apiKey: 'none' }).chat('gpt-5'),
  tools: { refund },
});
const { text } = await agent.generate('Refund order 17.');
console.log(text);
