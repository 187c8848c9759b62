import { existsSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { defineTool, openSession, resumeRun, runAgent } from '@holdfast/kit';
import { jsonlStore } from '@holdfast/kit/jsonl';
import { z } from 'zod';
import { checkpoints, refundOrder, url } from './desk.mjs';

const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  inputSchema: z.object({ order: z.number(), euros: z.number() }),
  effects: 'external',
  repeat: 'never',
  execute: ({ order, euros }) => refundOrder(order, euros),
});
const isResumed = existsSync(checkpoints);
const agent = {
  model: aiSdkModel(createOpenAI({ baseURL: url, apiKey: 'none' }).chat('gpt-5')),
  instructions: 'Help with orders.',
  tools: [refund],
  session: await openSession(jsonlStore(checkpoints), { id: 'monday' }),
};
const { text, outcomes } = await (isResumed ? resumeRun(agent) : runAgent({ ...agent, input: 'Refund order 17.' }));
console.log(outcomes.map(({ kind }) => kind).join(), text);
