import { defineTool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, expectTypeOf, test } from 'vitest';
import { callOf, runPolicy } from './fixtures.ts';
import { requireArguments } from './require-arguments.ts';

const transfer = defineTool({
  name: 'transfer_money',
  description: 'Transfer euros.',
  inputSchema: jsonSchema<{ readonly to: string; readonly euros: number }>({ type: 'object' }),
  effects: 'state',
});
const atMost100 = requireArguments(transfer, ({ euros }) => euros <= 100, { reason: 'At most 100 euros at a time.' });

test.each([
  { title: 'arguments that are accepted', name: 'transfer_money', euros: 100, answer: { type: 'allow' } },
  {
    title: 'others',
    name: 'transfer_money',
    euros: 101,
    answer: { type: 'deny', reason: 'At most 100 euros at a time.' },
  },
  { title: 'no number', name: 'transfer_money', euros: 'many', answer: { type: 'deny' } },
  { title: 'another tool', name: 'refund', euros: 101, answer: { type: 'allow' } },
])('$title: $answer.type', async ({ name, euros, answer }) => {
  expect(await runPolicy(atMost100).check(callOf(name, { to: 'Ada', euros }))).toMatchObject(answer);
});

test("the input has the tool's type, or is JSON", () => {
  requireArguments(transfer, (input) => {
    expectTypeOf(input).toEqualTypeOf<{ readonly to: string; readonly euros: number }>();
    return true;
  });
  expect(requireArguments('transfer_money', (input) => Array.isArray(input)).mentions).toEqual(['transfer_money']);
});

test('any result but true denies, and the default reason names the tool', async () => {
  // The casts stand for an untyped host.
  for (const answer of [undefined, null, 1, 'yes', {}, Promise.resolve(true)]) {
    const policy = requireArguments('pay', () => answer as unknown as boolean);
    expect(await runPolicy(policy).check(callOf('pay'))).toEqual({
      type: 'deny',
      reason: '`pay` must not run with these arguments.',
    });
  }
});

test('errors are thrown, which denies the call', async () => {
  const policy = requireArguments('pay', () => {
    throw new Error('broke');
  });
  await expect(runPolicy(policy).check(callOf('pay'))).rejects.toThrow('broke');
});

test('each tool gets its own id', () => {
  expect(atMost100).toMatchObject({ name: 'require-arguments', id: 'require-arguments-transfer-money' });
  expect(requireArguments('n'.repeat(64), () => true).id).toHaveLength(64);
  expect(requireArguments('pay', () => true, { id: 'small' }).id).toBe('small');
});

test.each([
  { tool: 'pay', accepts: true as unknown as () => boolean, code: 'options.invalid' },
  { tool: undefined as unknown as string, accepts: () => true, code: 'options.invalid' },
  { tool: { name: ['pay'] } as unknown as string, accepts: () => true, code: 'options.invalid' },
  { tool: 'Pay', accepts: () => true, code: 'tool.invalid', reason: 'name.invalid' },
  { tool: 'constructor', accepts: () => true, code: 'tool.invalid', reason: 'name.reserved' },
])('$tool, $accepts is $code', ({ tool, accepts, code, reason }) => {
  expect(() => requireArguments(tool, accepts)).toThrow(expect.objectContaining({ code, reason }));
});
