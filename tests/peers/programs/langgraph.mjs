import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { refundOrder, url } from './desk.mjs';
import { checkpointer, isResumed } from './file-saver.mjs';

const refund = tool(async ({ order, euros }) => JSON.stringify(await refundOrder(order, euros)), {
  name: 'refund',
  description: 'Refund an order.',
  schema: z.object({ order: z.number(), euros: z.number() }),
});
const agent = createReactAgent({
  llm: new ChatOpenAI({ model: 'gpt-5', apiKey: 'none', configuration: { baseURL: url } }),
  prompt: 'Help with orders.',
  tools: [refund],
  checkpointer,
});
const input = isResumed ? null : { messages: [{ role: 'user', content: 'Refund order 17.' }] };
const { messages } = await agent.invoke(input, { configurable: { thread_id: 'monday' } });
console.log(messages.at(-1).text);
