import { offlineModel } from '@holdfast/adapter-offline';
import { defineTool } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { createPrompt, everyCalls, markdownSection, staticFeedback } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';

const countWords = defineTool({
  name: 'count_words',
  description: 'Count the words of a file.',
  inputSchema: v.object({ path: v.string() }),
  effects: 'none',
  execute: () => ({ words: 12, lines: 3 }),
});

function run(output: v.GenericSchema<unknown, unknown>) {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'offline',
    sections: [markdownSection({ title: 'Files', template: 'Look into files.', tools: [countWords] })],
    output,
    // Said after the call, and no request of its own.
    feedback: [staticFeedback({ name: 'hurry', text: 'List all todos, now.', triggers: [everyCalls(1)] })],
  });
  const input = 'Count the words in a.txt';
  return runAgent({ model: offlineModel(), prompt, session: createSession(), input }).result;
}

test('the offline model gives the output that a run wants, when a result has it', async () => {
  const { status, output, outcomes } = await run(v.object({ words: v.number(), path: v.string() }));
  expect({ status, output }).toEqual({ status: 'completed', output: { words: 12, path: 'a.txt' } });
  expect(outcomes.map(({ name }) => name)).toEqual(['count_words']);
});

test('otherwise it says so, is asked once more, says the same, and calls nothing again', async () => {
  const { status, output, text, error, outcomes, turns } = await run(
    v.object({ words: v.number(), price: v.number() }),
  );
  expect({ status, output, turns }).toEqual({ status: 'model-error', output: undefined, turns: 3 });
  expect(error).toMatchObject({ code: 'output.invalid' });
  expect(text).toMatch(/^I am a rule-based program and cannot .* contains `price`\./);
  expect(outcomes).toHaveLength(1);
});
