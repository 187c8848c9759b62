import { ask, definePolicy, deny, type Policy } from '@holdfast/core';
import { createSession, type LogRecord, memoryStore } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createGuard, type ReleasingGuard } from '../index.ts';
import { type GovernOptions, refusalOf, runGoverned, streamGoverned, toGoverned } from './run.ts';

interface World {
  readonly guard: ReleasingGuard;
  ends(): readonly LogRecord[];
}

function world(...policies: readonly Policy[]): World {
  const store = memoryStore();
  return {
    guard: createGuard({ session: createSession({ store }), policies }),
    ends: () => store.records.filter(({ type }) => type === 'tool-call-end'),
  };
}

const call = (input: unknown = {}, options: GovernOptions = {}) =>
  toGoverned('test', { id: '1', name: 'pay', input }, options);

async function* count(): AsyncGenerator<number> {
  yield 1;
  yield 2;
}

async function readAll<Part>(parts: AsyncIterable<Part>): Promise<readonly Part[]> {
  const read: Part[] = [];
  for await (const part of parts) read.push(part);
  return read;
}

test('a call without an id is rejected', () => {
  expect(() => toGoverned('test', { id: undefined, name: 'pay', input: {} }, {})).toThrow(
    expect.objectContaining({ code: 'guard.failed', message: expect.stringContaining('`pay`') }),
  );
});

test('an input is the same before and after it was written down', () => {
  const at = new Date(0);
  expect(call({ at, none: undefined }).input).toEqual(call({ at: at.toISOString() }).input);
  expect(call(undefined).input).toEqual({});
});

test.each([
  ['short', 'x', 'x'],
  ['nothing', undefined, null],
])('a value that is %s is given again', async (_, value, again) => {
  const { guard } = world();
  expect(await runGoverned(guard, call(), { run: () => value })).toBe(value);
  expect(await runGoverned(guard, call(), { run: () => 'never' })).toBe(again);
});

test.each([
  ['long', 'x'.repeat(3000), `"${'x'.repeat(2047)}`],
  ['not JSON', 5n, ''],
])('a value that is %s is not given again, and does not run again', async (_, value, begins) => {
  const { guard, ends } = world();
  expect(await runGoverned(guard, call(), { run: () => value })).toBe(value);
  await expect(runGoverned(guard, call(), { run: () => value })).rejects.toMatchObject({ code: 'call.in_doubt' });
  expect(ends()).toMatchObject([{ outcome: { kind: 'ok', value: { begins } } }]);
});

test('a value that tells of an error is a failure', async () => {
  const { guard, ends } = world();
  const body = { run: () => ({ error: 'No money.' }), problemOf: ({ error }: { readonly error: string }) => error };
  expect(await runGoverned(guard, call(), body)).toEqual({ error: 'No money.' });
  expect(ends()).toMatchObject([{ outcome: { kind: 'failed', message: 'No money.' } }]);
});

test('parts are passed on as they come, and the last is the value', async () => {
  const { guard, ends } = world();
  expect(await readAll(streamGoverned(guard, call(), count))).toEqual([1, 2]);
  expect(ends()).toMatchObject([{ outcome: { kind: 'ok', value: { value: 2 } } }]);
  expect(await readAll(streamGoverned(guard, call(), count))).toEqual([2]);
});

test('parts that are not read to the end leave the call in doubt', async () => {
  const { guard, ends } = world();
  for await (const _ of streamGoverned(guard, call(), count)) break;
  expect(ends()).toMatchObject([{ outcome: { kind: 'in-doubt' } }]);
});

test('parts that end with an error', async () => {
  const { guard, ends } = world();
  const body = async function* (): AsyncGenerator<number> {
    yield 1;
    throw new Error('No paper.');
  };
  await expect(readAll(streamGoverned(guard, call(), body))).rejects.toThrow('No paper.');
  expect(ends()).toMatchObject([{ outcome: { kind: 'failed', message: expect.stringContaining('No paper.') } }]);
});

test('a run that was stopped before its body does not begin', async () => {
  const { guard, ends } = world();
  const signal = AbortSignal.abort(new Error('Stopped.'));
  let ran = false;
  const run = (): void => {
    ran = true;
  };
  await expect(runGoverned(guard, call(), { run, signal })).rejects.toThrow('Stopped.');
  expect(ran).toBe(false);
  expect(ends()).toMatchObject([{ outcome: { kind: 'cancelled' } }]);
});

test.each([
  ['denied', definePolicy({ name: 'closed', check: () => deny('Closed.') }), 'Closed.'],
  ['asked about, unknown to the framework', definePolicy({ name: 'asks', check: () => ask('May it?') }), 'May it?'],
])('a call that is %s is refused with its reason', async (_, policy, reason) => {
  const { guard } = world(policy);
  const refused = await runGoverned(guard, call(), { run: () => 'never' }).catch((thrown: unknown) => thrown);
  expect(refusalOf(refused)).toContain(reason);
});

test('an error of the body is not taken for a refusal', () => {
  const error = new Error('Mine.');
  expect(() => refusalOf(error)).toThrow(error);
});
