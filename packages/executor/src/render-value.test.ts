import { defineTool, type Tool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { testSession } from './fixtures.ts';
import { executeToolCall } from './index.ts';

test.each([
  ['that rejects', () => Promise.reject(new Error('broke'))],
  ['of a text', async () => 'text'],
])('output.render_failed: `renderResult` answers with a promise %s, and the process goes on', async (_what, render) => {
  const unhandled: unknown[] = [];
  const note = (thrown: unknown): void => void unhandled.push(thrown);
  process.on('unhandledRejection', note);
  const tool: Tool = defineTool({
    name: 'look',
    description: 'Answers.',
    execute: () => 1,
    renderResult: render as () => never,
  });
  const { session } = testSession();
  const outcome = await executeToolCall({ id: 'a', name: 'look', arguments: '' }, { tools: [tool], session });
  expect(outcome).toMatchObject({ code: 'output.render_failed', text: expect.stringContaining('got object') });
  await new Promise((resolve) => void setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
