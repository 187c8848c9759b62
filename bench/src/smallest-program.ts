// What the size row bundles: define a tool and run a loop, with nothing that is not needed for it.
import { defineTool, type Model, toolOk } from '@holdfast/core';
import { type AgentRun, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

const greet = defineTool({
  name: 'greet',
  description: 'Greet somebody by name.',
  inputSchema: v.object({ name: v.string() }),
  effects: 'none',
  execute: ({ name }) => toolOk(`Hello, ${name}.`),
});

const prompt = createPrompt({
  ns: 'bench',
  key: 'smallest',
  sections: [markdownSection({ title: 'Greeting', template: 'Greet people.', tools: [greet] })],
});

export function run(model: Model, input: string): AgentRun {
  return runAgent({ model, prompt, session: createSession(), input });
}
