// A language model that runs in this process: no key, no network. It is tiny and makes mistakes, so its calls are checked like any others.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { loadLlamaModel } from '@holdfast/adapter-llama-cpp';
import { defineTool, type Tool } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { tinyFormat, tinyModelUrl } from '@holdfast/model-tiny';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

const getWeather = defineTool({
  name: 'get_weather',
  description: 'Looks up the weather of a city.',
  effects: 'none',
  inputSchema: v.object({ city: v.pipe(v.string(), v.maxLength(40)) }),
  execute: () => ({ sky: 'clear' }),
});
let deleted = false;
const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Deletes a file.',
  effects: 'external',
  dangerous: true,
  inputSchema: v.object({ path: v.pipe(v.string(), v.maxLength(40)) }),
  execute: () => {
    deleted = true;
    return { deleted };
  },
});

await using model = await loadLlamaModel({ modelPath: tinyModelUrl, format: tinyFormat, maxTokens: 48 });

/** Gives the model one tool and a request, and returns the outcomes of its calls. */
async function run(input: string, tool: Tool): Promise<readonly string[]> {
  const outcomes: string[] = [];
  console.log(`> ${input}`);
  const section = markdownSection({ title: 'Tools', template: 'Use the tool.', tools: [tool] });
  const prompt = createPrompt({ ns: 'examples', key: 'local-model', sections: [section] });
  const agent = runAgent({ model, prompt, input, session: createSession(), maxRounds: 3, unattended: true });
  for await (const event of agent) {
    if (event.type !== 'tool-call-end') continue;
    console.log(`  ${event.name} ${JSON.stringify(event.input)}: ${event.outcome.kind}`);
    outcomes.push(event.outcome.kind);
  }
  const { text } = await agent.result;
  if (text !== '') console.log(`  "${text.slice(0, 80)}"`);
  return outcomes;
}

const megabytes = (statSync(tinyModelUrl).size / 1e6).toFixed(1);
console.log(`a language model of ${megabytes} MB, which sees ${model.contextSize} tokens`);
assert.equal((await run('What is the weather in Oslo?', getWeather))[0], 'ok');
// It may call anything: without approval nothing is deleted.
assert.equal((await run('Delete the file report.txt', deleteFile))[0], 'denied');
assert.equal(deleted, false);
console.log('a language model requested calls, and the call path decided');
