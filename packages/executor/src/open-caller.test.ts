import { defineTool } from '@holdfast/core';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { openCaller } from './open-caller.ts';

const double = defineTool({
  name: 'double',
  description: 'Says who sees what.',
  effects: 'none',
  execute: (_, { trace }) => trace?.length ?? -1,
});

test('calls of one caller share what it was given, and each has a manner of its own', async () => {
  const session = createSession();
  const caller = openCaller({ tools: [double], session });
  const ends: string[] = [];
  const entry = { node: 0, tool: 'a', kind: 'ok', code: undefined, message: '', value: null };
  const [plain, traced] = await Promise.all([
    caller.execute({ id: 'one', name: 'double', arguments: {} }),
    caller.execute(
      { id: 'two', name: 'double', arguments: {} },
      { trace: () => [entry], onEnd: ({ callId }) => ends.push(callId) },
    ),
  ]);
  expect(plain).toMatchObject({ kind: 'ok', value: -1 });
  expect(traced).toMatchObject({ kind: 'ok', value: 1 });
  expect(ends).toEqual(['two']);
  expect(caller.keyOf('a/b')).toBe(`${session.id}/a%2Fb`);
  caller.dispose();
});
