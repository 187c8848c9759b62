import { Agent } from '@earendil-works/pi-agent-core';
import { Type } from '@earendil-works/pi-ai';
import { streamSimple } from '@earendil-works/pi-ai/compat';

export const name = 'pi';
export const packages = ['@earendil-works/pi-agent-core'];
export const without = {
  ids: 'its client makes one call of two that have one id',
  approvals: 'its hook answers while the program runs: nothing is stored that waits',
  deadlines: 'a tool has no deadline',
  state: 'a tool has no state of the framework',
};

const settings = {
  ...{ id: 'gpt-5', name: 'gpt-5', api: 'openai-completions', provider: 'openai', reasoning: false, input: ['text'] },
  ...{ cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100_000, maxTokens: 1_000 },
};

export async function run({ save, rule }, { url }) {
  const saving = {
    name: 'save',
    label: 'Save',
    description: 'Save a text.',
    parameters: Type.Object({ text: Type.String() }),
    execute: async (_id, { text }) => ({ content: [{ type: 'text', text: await save(text) }], details: {} }),
  };
  const agent = new Agent({
    initialState: { systemPrompt: 'Help.', model: { ...settings, baseUrl: url }, tools: [saving] },
    streamFn: streamSimple,
    getApiKey: () => 'none',
    async beforeToolCall() {
      if (rule === 'throws') throw new Error('Broken.');
      return undefined;
    },
  });
  await agent.prompt('Go.');
  return { waiting: undefined };
}
