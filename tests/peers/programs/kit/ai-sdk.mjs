import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';
import { scriptedModel } from './scripted-model.mjs';

export const name = 'AI SDK';
export const packages = ['ai'];
export const without = { state: 'a tool has no state of the framework' };

export async function run({ save, rule, deadlineMs }, served, stored) {
  const messages = stored ? JSON.parse(stored) : [{ role: 'user', content: 'Go.' }];
  const { content, responseMessages } = await generateText({
    model: scriptedModel(served),
    tools: {
      save: tool({
        description: 'Save a text.',
        inputSchema: z.object({ text: z.string() }),
        execute: async ({ text }) => save(text),
      }),
    },
    toolApproval() {
      if (rule === 'throws') throw new Error('Broken.');
      return rule === 'asks' ? 'user-approval' : undefined;
    },
    timeout: { toolMs: deadlineMs },
    stopWhen: isStepCount(2),
    messages,
  });
  const questions = content.filter(({ type }) => type === 'tool-approval-request');
  const answers = questions.map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: true }));
  return { waiting: JSON.stringify([...messages, ...responseMessages, { role: 'tool', content: answers }]) };
}
