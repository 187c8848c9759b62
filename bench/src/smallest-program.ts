// The program of the size row: defines a tool and runs a loop, with only the required imports.
import { defineTool, type Model, toolOk } from '@holdfast/core';
import { type AgentRun, runAgent } from '@holdfast/executor';
import * as v from 'valibot';

const greet = defineTool({
  name: 'greet',
  description: 'Greet a person by name.',
  inputSchema: v.object({ name: v.string() }),
  effects: 'none',
  execute: ({ name }) => toolOk(`Hello, ${name}.`),
});

export function run(model: Model, input: string): AgentRun {
  return runAgent({ model, instructions: 'Greet people.', tools: [greet], input });
}
