import { defineTool, type Outcome, type Tool, toolOk } from '@holdfast/core';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { executeToolCall } from './execute-tool-call.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refund.',
  inputSchema: v.object({ euros: v.number() }),
  effects: 'state',
  execute: ({ euros }) => toolOk({ paid: euros }, 'Paid.'),
});
const mail = defineTool({
  name: 'mail',
  description: 'Mail.',
  outputSchema: v.object({ sent: v.boolean() }),
  effects: 'state',
  execute: () => ({ sent: true }),
});

test('the value of a success has the type of the tool, or of one of the listed tools', async () => {
  const call = { name: 'refund', arguments: { euros: 5 } };
  const session = createSession();
  const one = await executeToolCall(call, { tools: [refund], session });
  if (one.kind !== 'ok') throw new Error(one.kind);
  expectTypeOf(one.value).toEqualTypeOf<{ paid: number }>();
  expect(one.value.paid).toBe(5);

  const two = await executeToolCall(call, { tools: [refund, mail], session });
  if (two.kind !== 'ok') throw new Error(two.kind);
  expectTypeOf(two.value).toEqualTypeOf<{ paid: number } | { sent: boolean }>();

  const tools: readonly Tool[] = [refund, mail];
  const any = await executeToolCall({ ...call, arguments: { euros: 'five' } }, { tools, session });
  if (any.kind === 'suspended') throw new Error(any.kind);
  expectTypeOf(any).toEqualTypeOf<Outcome>();
  expect(any.kind).toBe('invalid');
});
