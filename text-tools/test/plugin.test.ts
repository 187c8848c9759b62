import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { executeToolCall } from '@holdfast/executor';
import { createRegistry } from '@holdfast/registry';
import { createSession } from '@holdfast/session';
import { textTools } from '../src/index.ts';

const { tools, problems, policies } = createRegistry().use(textTools);

async function call(input: unknown) {
  const options = { tools, policies, session: createSession() };
  return executeToolCall({ name: 'count_words', arguments: input }, options);
}

test('a host can use it', () => {
  assert.deepEqual(problems, []);
  assert.equal(textTools.name, 'text-tools');
  assert.equal(textTools.version, JSON.parse(readFileSync('package.json', 'utf8')).version);
});

test('it counts words', async () => {
  const outcome = await call({ text: ' one  two\nthree ' });
  assert.equal(outcome.kind, 'ok');
  if (outcome.kind === 'ok') assert.deepEqual(outcome.value, { words: 3 });
});

test('what is no text is refused before it runs', async () => {
  assert.equal((await call({ text: 3 })).kind, 'invalid');
});
