// From a tool to an answer: the program of the README.
import assert from 'node:assert/strict';
import { offlineModel } from '@holdfast/adapter-offline';
import { callBudget, defineTool, runAgent } from '@holdfast/kit';
import { z } from 'zod';

const lookUpCapital = defineTool({
  name: 'look_up_capital',
  description: 'Look up the capital of a country.',
  inputSchema: z.object({ country: z.string().describe('Name of the country') }),
  effects: 'none',
  execute: ({ country }) => ({ country, capital: country === 'Peru' ? 'Lima' : 'unknown' }),
});

const { text } = await runAgent({
  model: offlineModel(),
  instructions: 'Look facts up; do not guess.',
  tools: [lookUpCapital],
  policies: [callBudget({ maxCalls: 5 })],
  input: 'What is the capital of the country "Peru"?',
});

assert.match(text, /Lima/);
console.log(text);
