// What the size row bundles: define a tool and run a loop, with nothing that is not needed for it.
import { defineTool, type Model, toolOk } from '@holdfast/core';
import { type AgentRun, runAgent } from '@holdfast/executor';
import * as v from 'valibot';

const greet = defineTool({
  name: 'greet',
  description: 'Greet somebody by name.',
  inputSchema: v.object({ name: v.string() }),
  effects: 'none',
  execute: ({ name }) => toolOk(`Hello, ${name}.`),
});

export function run(model: Model, input: string): AgentRun {
  return runAgent({ model, instructions: 'Greet people.', tools: [greet], input });
}
