import { defineTool, type Model, type Tool, toolOk } from '@holdfast/core';
import { type RunAgentOptions, type RunResult, runAgent } from '@holdfast/executor';
import { callBudget } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

export const lookUpCapital: Tool<{ country: string }> = defineTool({
  name: 'look_up_capital',
  description: 'Look up the capital of a country.',
  inputSchema: v.object({ country: v.pipe(v.string(), v.minLength(1), v.description('Name of the country')) }),
  effects: 'none',
  execute: ({ country }) => toolOk({ country, capital: country === 'Peru' ? 'Lima' : 'unknown' }),
});

/** May be called once. */
const prompt = createPrompt({
  ns: 'tests',
  key: 'capitals',
  sections: [
    markdownSection({
      title: 'Geography',
      template: 'Look facts up.',
      tools: [lookUpCapital],
      policies: [callBudget({ maxCalls: 1 })],
    }),
  ],
});

export async function runWith(model: Model, options: Partial<RunAgentOptions> = {}): Promise<RunResult> {
  return await runAgent({
    model,
    prompt,
    session: createSession(),
    input: 'What is the capital of Peru?',
    ...options,
  }).result;
}
