import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';
import { refundOrder, url } from './desk.mjs';

const refund = tool({
  description: 'Refund an order.',
  inputSchema: z.object({ order: z.number(), euros: z.number() }),
  execute: ({ order, euros }) => refundOrder(order, euros),
});
const { text } = await generateText({
  model: createOpenAI({ baseURL: url, apiKey: 'none' }).chat('gpt-5'),
  system: 'Help with orders.',
  tools: { refund },
  stopWhen: isStepCount(5),
  prompt: 'Refund order 17.',
});
console.log(text);
