// From a tool to an answer: what the README shows.
import assert from 'node:assert/strict';
import { offlineModel } from '@holdfast/adapter-offline';
import { defineTool } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { callBudget } from '@holdfast/policy';
import * as v from 'valibot';

const lookUpCapital = defineTool({
  name: 'look_up_capital',
  description: 'Look up the capital of a country.',
  inputSchema: v.object({ country: v.pipe(v.string(), v.minLength(1), v.description('Name of the country')) }),
  effects: 'none',
  execute: ({ country }) => ({ country, capital: country === 'Peru' ? 'Lima' : 'unknown' }),
});

const { status, text } = await runAgent({
  model: offlineModel(),
  instructions: 'Look facts up; do not guess.',
  tools: [lookUpCapital],
  policies: [callBudget({ maxCalls: 5 })],
  input: 'What is the capital of the country "Peru"?',
});

assert.equal(status, 'completed');
assert.match(text, /Lima/);
console.log(text);
