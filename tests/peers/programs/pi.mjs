import { Agent } from '@earendil-works/pi-agent-core';
import { Type } from '@earendil-works/pi-ai';
import { streamSimple } from '@earendil-works/pi-ai/compat';
import { refundOrder, url } from './desk.mjs';

const model = {
  ...{ id: 'gpt-5', name: 'gpt-5', api: 'openai-completions', provider: 'openai', baseUrl: url, reasoning: false },
  ...{ input: ['text'], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
  ...{ contextWindow: 100_000, maxTokens: 1_000 },
};
const refund = {
  name: 'refund',
  label: 'Refund',
  description: 'Refund an order.',
  parameters: Type.Object({ order: Type.Number(), euros: Type.Number() }),
  async execute(_id, { order, euros }) {
    const result = await refundOrder(order, euros);
    return { content: [{ type: 'text', text: JSON.stringify(result) }], details: result };
  },
};
const agent = new Agent({
  initialState: { systemPrompt: 'Help with orders.', model, tools: [refund] },
  streamFn: streamSimple,
  getApiKey: () => 'none',
});
await agent.prompt('Refund order 17.');
console.log(agent.state.messages.at(-1).content);
