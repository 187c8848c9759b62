import { defineTool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { callOf, runPolicy } from './fixtures.ts';
import { allowTools, denyTools } from './tool-lists.ts';

test.each([
  { title: 'a named tool', policy: allowTools(['read', 'write']), name: 'write', type: 'allow' },
  { title: 'another tool', policy: allowTools(['read', 'write']), name: 'wipe', type: 'deny' },
  { title: 'a part of a name', policy: allowTools(['read_file']), name: 'read', type: 'deny' },
  { title: 'any tool of an empty list', policy: allowTools([]), name: 'read', type: 'deny' },
  { title: 'what objects have', policy: allowTools(['read']), name: 'valueof_', type: 'deny' },
  { title: 'a denied tool', policy: denyTools(['wipe']), name: 'wipe', type: 'deny' },
  { title: 'a tool not denied', policy: denyTools(['wipe']), name: 'read', type: 'allow' },
])('$policy.id: $title: $type', async ({ policy, name, type }) => {
  const run = runPolicy(policy);
  expect(await run.check(callOf(name))).toMatchObject({ type });
  run.succeed(callOf(name));
  expect(await run.check(callOf(name))).toMatchObject({ type });
  expect(policy.state).toBeUndefined();
});

test('they name the tool, or use the given reason', async () => {
  const reasons = async (options: { readonly reason?: string }): Promise<unknown[]> =>
    Promise.all(
      [allowTools([], options), denyTools(['wipe'], options)].map(async (policy) =>
        runPolicy(policy).check(callOf('wipe')),
      ),
    );
  expect(await reasons({})).toEqual([
    { type: 'deny', reason: '`wipe` is not an allowed tool.' },
    { type: 'deny', reason: '`wipe` must not run here.' },
  ]);
  expect(await reasons({ reason: 'Files are kept.' })).toEqual([
    { type: 'deny', reason: 'Files are kept.' },
    { type: 'deny', reason: 'Files are kept.' },
  ]);
});

test('they mention each tool once, also if given as a tool, and take an id', () => {
  const read = defineTool({ name: 'read', description: 'Read.', execute: () => null });
  expect([allowTools([read, 'read']).mentions, denyTools([read]).mentions]).toEqual([['read'], ['read']]);
  expect(allowTools(['b', 'a', 'b'])).toMatchObject({ id: 'allow-tools', mentions: ['b', 'a'] });
  expect(denyTools(['b'], { id: 'keep' })).toMatchObject({ name: 'deny-tools', id: 'keep', mentions: ['b'] });
});

// The casts stand for an untyped host.
test.each([
  { names: 'read' as unknown as string[], code: 'options.invalid' },
  { names: [7] as unknown as string[], code: 'options.invalid' },
  { names: undefined as unknown as string[], code: 'options.invalid' },
  { names: new Set(['read']) as unknown as string[], code: 'options.invalid' },
  { names: ['Read'], code: 'tool.invalid', reason: 'name.invalid' },
  { names: ['__proto__'], code: 'tool.invalid', reason: 'name.reserved' },
])('$names is $code', ({ names, code, reason }) => {
  expect(() => allowTools(names)).toThrow(expect.objectContaining({ code, reason }));
  expect(() => denyTools(names)).toThrow(expect.objectContaining({ code, reason }));
});

test('options.invalid: no denied tools, and an empty reason', () => {
  for (const reason of ['', ' ', 7 as unknown as string, null as unknown as string]) {
    for (const make of [allowTools, denyTools]) {
      expect(() => make(['read'], { reason })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
    }
  }
  expect(() => denyTools([])).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});
