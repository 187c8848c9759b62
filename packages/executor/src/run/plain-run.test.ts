import { ask, type Decision, definePolicy, defineTool, type RunEvent, toolOk } from '@holdfast/core';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { call, echo, playing, say, stop, toolsPrompt } from '../fixtures.ts';
import { answerApproval, type RunResult, resumeRun, runAgent } from '../index.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: v.object({ euros: v.number() }),
  effects: 'external',
  execute: ({ euros }) => toolOk({ refunded: euros }),
});
const asking = definePolicy({ name: 'asking', check: (): Decision => ask('Is that right?') });

test('instructions and tools need no prompt object and no session', async () => {
  const model = playing([call('refund', { euros: 5 }), stop], [say('Done.'), stop]);
  const run = runAgent({ model, instructions: 'Help with orders.', tools: [refund], input: 'Refund 5.' });
  const result = await run;
  expect(result).toMatchObject({
    status: 'completed',
    text: 'Done.',
    turns: 2,
    outcomes: [{ value: { refunded: 5 } }],
  });
  expect(model.requests[0]).toMatchObject({
    messages: [
      { role: 'system', text: 'Help with orders.' },
      { role: 'user', text: 'Refund 5.' },
    ],
    tools: [{ name: 'refund' }],
  });
  expect(result.session).toBe(run.session);
  expect([...run.session.records()].map(({ type }) => type)).toContain('run-end');
});

test('without tools a model only answers', async () => {
  const { text, session } = await runAgent({
    model: playing([say('Hello.'), stop]),
    instructions: 'Greet.',
    input: 'Hi',
  });
  expect(text).toBe('Hello.');
  expect(session.id).not.toBe('');
});

test('a run runs once, however often and whichever way it is awaited', async () => {
  const model = playing([call('echo', { text: 'a' }), stop], [say('Done.'), stop]);
  const run = runAgent({ model, instructions: 'Work.', tools: [echo], input: 'Go' });
  const types: string[] = [];
  for await (const event of run) types.push(event.type);
  const [one, other, third] = [await run, await run, await run.result];
  expect(one).toBe(other);
  expect(one).toBe(third);
  expect(types.filter((type) => type === 'run-end')).toHaveLength(1);
  expect(model.requests).toHaveLength(2);
  await expect(
    runAgent({ model: playing(), instructions: 'x', tools: [echo, echo], input: 'Go' }),
  ).rejects.toMatchObject({
    code: 'tool.invalid',
    reason: 'name.duplicate',
  });
});

test('a run that waits is answered and resumed in its own session', async () => {
  const model = playing([call('refund', { euros: 500 }, 'c1'), stop], [say('Refunded.'), stop]);
  const options = { model, instructions: 'Help with orders.', tools: [refund], policies: [asking] };
  const { status, pending, session } = await runAgent({ ...options, input: 'Refund 500.' });
  expect(status).toBe('suspended');
  for (const question of pending) await answerApproval(session, question, { type: 'approve' });
  const resumed = await resumeRun({ ...options, session });
  expect(resumed).toMatchObject({ status: 'completed', text: 'Refunded.', outcomes: [{ kind: 'ok' }] });
  expect(resumed.session).toBe(session);
});

test.each<readonly [string, object, string]>([
  ['nothing to tell the model', {}, 'neither'],
  ['tools alone', { tools: [echo] }, 'neither'],
  ['both forms', { instructions: 'Work.', prompt: toolsPrompt([echo]) }, 'both'],
  ['instructions that are not a string', { instructions: 5 }, 'instructions'],
  ['tools that are not a list', { instructions: 'Work.', tools: echo }, 'tools'],
])('options.invalid: %s', (_name, given, said) => {
  const session = createSession();
  const invalid = expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(said) });
  const wrong = { model: playing(), session, ...given };
  expect(() => runAgent({ ...wrong, input: 'Go' })).toThrow(invalid);
  expect(() => resumeRun(wrong)).toThrow(invalid);
});

test('what a run is awaited for is typed', () => {
  const run = runAgent({ model: playing(), instructions: 'Work.', input: 'Go' });
  expectTypeOf(run).resolves.toEqualTypeOf<RunResult<undefined>>();
  expectTypeOf(run[Symbol.asyncIterator]).returns.toEqualTypeOf<AsyncIterator<RunEvent>>();
});
