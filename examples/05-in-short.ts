// From a tool to an answer: what the README shows.
import assert from 'node:assert/strict';
import { offlineModel } from '@holdfast/adapter-offline';
import { defineTool, toolOk } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { callBudget } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

const lookUpCapital = defineTool({
  name: 'look_up_capital',
  description: 'Look up the capital of a country.',
  inputSchema: v.object({ country: v.pipe(v.string(), v.minLength(1), v.description('Name of the country')) }),
  effects: 'none',
  execute: ({ country }) => toolOk({ country, capital: country === 'Peru' ? 'Lima' : 'unknown' }),
});

const prompt = createPrompt({
  ns: 'examples',
  key: 'in-short',
  sections: [
    markdownSection({
      title: 'Geography',
      template: 'Look facts up; do not guess.',
      tools: [lookUpCapital],
      policies: [callBudget({ maxCalls: 5 })],
    }),
  ],
});

const run = runAgent({
  model: offlineModel(),
  prompt,
  session: createSession(),
  input: 'What is the capital of the country "Peru"?',
});
for await (const event of run) {
  if (event.type === 'tool-call-end') console.log(event.name, event.input, event.outcome.kind);
}
const { status, text } = await run.result;
assert.equal(status, 'completed');
assert.match(text, /Lima/);
console.log(text);
