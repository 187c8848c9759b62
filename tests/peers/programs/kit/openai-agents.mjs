import { Agent, defineToolInputGuardrail, OpenAIProvider, Runner, RunState, tool } from '@openai/agents';
import { z } from 'zod';

export const name = 'OpenAI Agents';
export const packages = ['@openai/agents'];
export const without = { state: "the run's context is an object of the program's" };

const broken = defineToolInputGuardrail({
  name: 'broken',
  run: async () => {
    throw new Error('Broken.');
  },
});

export async function run({ save, rule, deadlineMs }, { url }, stored) {
  const saving = tool({
    name: 'save',
    description: 'Save a text.',
    parameters: z.object({ text: z.string() }),
    execute: async ({ text }) => save(text),
    errorFunction: (_context, error) => String(error),
    timeoutMs: deadlineMs,
    inputGuardrails: rule === 'throws' ? [broken] : [],
    needsApproval: rule === 'asks',
  });
  const agent = new Agent({ name: 'desk', instructions: 'Help.', tools: [saving], model: 'gpt-5' });
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ baseURL: url, apiKey: 'none', useResponses: false }),
    tracingDisabled: true,
  });
  const approved = stored && (await RunState.fromString(agent, stored));
  for (const question of approved?.getInterruptions() ?? []) approved.approve(question);
  const { state } = await runner.run(agent, approved ?? 'Go.', { toolNotFoundBehavior: 'return_error_to_model' });
  return { waiting: state.toString() };
}
