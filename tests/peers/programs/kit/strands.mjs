import { Agent, InterventionHandler, tool } from '@strands-agents/sdk';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { z } from 'zod';

export const name = 'Strands';
export const packages = ['@strands-agents/sdk'];
export const without = {
  ids: 'its client makes one call of two that have one id',
  deadlines: 'a run can be stopped, a tool has no deadline',
};

class Rule extends InterventionHandler {
  name = 'rule';
  onError = 'deny';

  constructor(rule) {
    super();
    this.rule = rule;
  }

  beforeToolCall() {
    if (this.rule === 'throws') throw new Error('Broken.');
    return { type: 'confirm', prompt: 'May it save?' };
  }
}

export async function run({ save, rule }, { url }, stored) {
  const saving = tool({
    name: 'save',
    description: 'Save a text.',
    inputSchema: z.object({ text: z.string() }),
    callback: async ({ text }, { agent: { appState } }) =>
      save(text, (added) => appState.set('staged', [...(appState.get('staged') ?? []), added])),
  });
  const agent = new Agent({
    model: new OpenAIModel({ api: 'chat', modelId: 'gpt-5', apiKey: 'none', clientConfig: { baseURL: url } }),
    tools: [saving],
    interventions: rule ? [new Rule(rule)] : [],
    printer: false,
  });
  if (stored) agent.loadSnapshot(JSON.parse(stored.snapshot));
  const approved = stored?.ids.map((interruptId) => ({ interruptResponse: { interruptId, response: true } }));
  const { interrupts = [] } = await agent.invoke(approved ?? 'Go.');
  const snapshot = JSON.stringify(agent.takeSnapshot({ preset: 'session' }));
  return { staged: agent.appState.get('staged') ?? [], waiting: { snapshot, ids: interrupts.map(({ id }) => id) } };
}
