import { defineTool } from '@holdfast/core';
import { createSession, memoryStore } from '@holdfast/session';
import { expect, test } from 'vitest';
import { executeToolCall } from '../index.ts';

test('a session that another machine may continue ends each of its calls, not only the first', async () => {
  const lost = new AbortController();
  const session = createSession({ store: Object.assign(memoryStore(), { lost: lost.signal }) });
  const save = defineTool({ name: 'save', description: 'Saves.', effects: 'external', execute: () => 'saved' });
  const options = { session, tools: [save] };
  expect(await executeToolCall({ id: 'a', name: 'save', arguments: {} }, options)).toMatchObject({ kind: 'ok' });
  lost.abort();
  expect(await executeToolCall({ id: 'b', name: 'save', arguments: {} }, options)).toMatchObject({ kind: 'cancelled' });
});
