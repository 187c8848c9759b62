import { defineTool, type Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, expectTypeOf, test } from 'vitest';
import { callOf, runPolicy } from './fixtures.ts';
import { requireApproval } from './require-approval.ts';

const overTen = (input: Json): boolean => isPlainObject(input) && Number(input['amount']) > 10;

test.each([
  { title: 'a named tool', options: { tools: ['pay'] }, name: 'pay', type: 'ask' },
  { title: 'another tool', options: { tools: ['pay'] }, name: 'read', type: 'allow' },
  { title: 'an input that needs it', options: { tools: ['pay'], when: overTen }, name: 'pay', amount: 11, type: 'ask' },
  {
    title: 'an input that does not need it',
    options: { tools: ['pay'], when: overTen },
    name: 'pay',
    amount: 10,
    type: 'allow',
  },
  {
    title: 'another tool with such an input',
    options: { tools: ['pay'], when: overTen },
    name: 'read',
    amount: 11,
    type: 'allow',
  },
])('$title: $type', async ({ options, name, amount = 0, type }) => {
  expect(await runPolicy(requireApproval(options)).check(callOf(name, { amount }))).toMatchObject({ type });
});

const pay = defineTool({
  name: 'pay',
  description: 'Pay.',
  inputSchema: jsonSchema<{ amount: number }>({ type: 'object', properties: { amount: { type: 'number' } } }),
  execute: () => null,
});
const send = defineTool({
  name: 'send',
  description: 'Send.',
  inputSchema: jsonSchema<{ to: string }>({ type: 'object', properties: { to: { type: 'string' } } }),
  execute: () => null,
});

test('a tool gives `when` the type of its input', async () => {
  const one = requireApproval({ tools: [pay], when: ({ amount }) => amount > 10 });
  expect(one.mentions).toEqual(['pay']);
  expect(await runPolicy(one).check(callOf('pay', { amount: 11 }))).toMatchObject({ type: 'ask' });
  expect(await runPolicy(one).check(callOf('pay', { amount: 10 }))).toMatchObject({ type: 'allow' });
  const both = requireApproval({
    tools: [pay, send],
    when: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ amount: number } | { to: string }>();
      return 'to' in input;
    },
  });
  expect(await runPolicy(both).check(callOf('send', { to: 'Ada' }))).toMatchObject({ type: 'ask' });
  requireApproval({
    tools: ['pay'],
    when: (input) => {
      expectTypeOf(input).toEqualTypeOf<Json>();
      return true;
    },
  });
  // @ts-expect-error the input has no euros
  requireApproval({ tools: [pay], when: ({ euros }) => euros > 10 });
});

test('any result but false asks', async () => {
  // The casts stand for an untyped host.
  for (const answer of [undefined, null, 0, Promise.resolve(false)]) {
    const policy = requireApproval({ tools: ['pay'], when: () => answer as unknown as boolean });
    expect(await runPolicy(policy).check(callOf('pay'))).toMatchObject({ type: 'ask' });
  }
});

test('`when` sees the facts of the call', async () => {
  const policy = requireApproval({ tools: ['pay'], when: (_input, { facts }) => facts?.untrusted !== false });
  const none = { runs: [], reads: [], writes: [], deletes: [], hosts: [], unclear: [] };
  for (const untrusted of [true, false]) {
    const call = { ...callOf('pay'), facts: { ...none, untrusted } };
    expect(await runPolicy(policy).check(call)).toMatchObject({ type: untrusted ? 'ask' : 'allow' });
  }
  expect(await runPolicy(policy).check(callOf('pay'))).toMatchObject({ type: 'ask' });
});

test('uses the given reason', async () => {
  expect(await runPolicy(requireApproval({ tools: ['pay'] })).check(callOf('pay'))).toMatchObject({
    reason: '`pay` needs approval.',
  });
  const policy = requireApproval({ tools: ['pay'], reason: 'Money leaves the house.', id: 'money' });
  expect(policy).toMatchObject({ id: 'money', mentions: ['pay'], state: undefined });
  expect(await runPolicy(policy).check(callOf('pay'))).toMatchObject({ reason: 'Money leaves the house.' });
});

test.each([
  { options: { tools: [] }, code: 'options.invalid' },
  { options: { tools: [7] as unknown as string[] }, code: 'options.invalid' },
  { options: { tools: 'pay' as unknown as string[] }, code: 'options.invalid' },
  { options: { tools: ['pay'], when: true as unknown as () => boolean }, code: 'options.invalid' },
  { options: { tools: ['pay'], reason: ' ' }, code: 'options.invalid' },
  { options: { tools: ['Pay'] }, code: 'tool.invalid', reason: 'name.invalid' },
  { options: { tools: ['then'] }, code: 'tool.invalid', reason: 'name.reserved' },
])('$options is $code', ({ options, code, reason }) => {
  expect(() => requireApproval(options)).toThrow(expect.objectContaining({ code, reason }));
});
