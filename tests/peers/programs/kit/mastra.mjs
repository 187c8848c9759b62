import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { scriptedModel } from './scripted-model.mjs';

export const name = 'Mastra';
export const packages = ['@mastra/core'];
export const without = {
  deadlines: 'a tool has no deadline',
  state: 'a tool has no state of the framework',
};

export async function run({ save, rule }, served, stored) {
  const saving = createTool({
    id: 'save',
    description: 'Save a text.',
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => save(text),
    requireApproval: rule === 'asks',
  });
  const desk = new Agent({
    id: 'desk',
    name: 'desk',
    instructions: 'Help.',
    model: scriptedModel(served),
    tools: { save: saving },
  });
  const storage = stored?.storage ?? new InMemoryStore();
  const agent = new Mastra({ agents: { desk }, storage, logger: false }).getAgent('desk');
  const options = { maxSteps: 2 };
  if (rule === 'throws') {
    options.requireToolApproval = () => {
      throw new Error('Broken.');
    };
  }
  const approve = () => agent.approveToolCallGenerate({ ...options, ...stored.question });
  const { error, runId, suspendPayload } = await (stored ? approve() : agent.generate('Go.', options));
  if (error) throw error;
  return { waiting: { storage, question: { runId, toolCallId: suspendPayload?.toolCallId } } };
}
