import { allow, definePolicy, defineTool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { outcomeOf, testSession } from '../fixtures.ts';

test('output.render_failed: a payment whose renderer throws stays `ok`, counts against its budget, and the fault is in the record', async () => {
  const { session, ends } = testSession();
  let payments = 0;
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    execute: () => {
      payments += 1;
      return { id: 'p1', note: null };
    },
    renderResult: () => {
      throw new TypeError('amount is undefined');
    },
  });
  const counted: number[] = [];
  const count = definePolicy<number>({
    name: 'count',
    initialState: 0,
    check: (_call, { state }) => {
      counted.push(state);
      return allow;
    },
    onResult: (_call, _result, { state }) => state + 1,
  });
  for (const id of ['a', 'b']) {
    expect(
      await outcomeOf({ id, name: 'pay', arguments: '' }, { tools: [pay], session, policies: [count] }),
    ).toMatchObject({ kind: 'ok', code: undefined, value: { id: 'p1', note: null }, text: '{"id":"p1"}' });
  }
  expect(payments).toBe(2);
  expect(counted).toEqual([0, 1]);
  expect(ends()[0]).toMatchObject({
    error: {
      name: 'TypeError',
      code: 'output.render_failed',
      message: '`renderResult` of `pay` failed, so the value was sent as JSON: amount is undefined',
    },
  });
});

test('`renderResult` that answers with a promise leaves no unhandled rejection behind', async () => {
  const unhandled: unknown[] = [];
  const note = (thrown: unknown): void => void unhandled.push(thrown);
  process.on('unhandledRejection', note);
  const tool = defineTool({
    name: 'look',
    description: 'Answers.',
    execute: () => 1,
    renderResult: (() => Promise.reject(new Error('broke'))) as () => never,
  });
  const { session, ends } = testSession();
  await outcomeOf({ id: 'a', name: 'look', arguments: '' }, { tools: [tool], session });
  await new Promise((resolve) => void setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  expect(ends()[0]).toMatchObject({ error: { message: expect.stringContaining('must return a string, got object') } });
});
