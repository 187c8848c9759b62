import { systemClock } from '@holdfast/core';
import { expect, test } from 'vitest';
import { type TestClock, testClock } from '../preview/test-clock.ts';
import { createLockTable, type LockAnswer, type LockTable } from './lock-table.ts';

interface Asked {
  readonly owner: string;
  /** Undefined while it waits. */
  answer: LockAnswer | 'at once' | undefined;
}

interface Bench {
  readonly table: LockTable;
  readonly clock: TestClock;
  ask(owner: string, names: string, timeoutMs?: number): Promise<Asked>;
  /** Releases, then lets promises run. */
  free(owner: string, names: string): Promise<void>;
  end(): Promise<void>;
  readonly listeners: Set<() => void>;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
}

function bench(): Bench {
  const table = createLockTable();
  const clock = testClock();
  const listeners = new Set<() => void>();
  const onEnd = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    table,
    clock,
    listeners,
    async ask(owner, names, timeoutMs) {
      const asked: Asked = { owner, answer: undefined };
      const waiting = table.acquire(names.split(' '), owner, { clock, timeoutMs, onEnd });
      if (waiting === undefined) asked.answer = 'at once';
      else
        void waiting.then((answer) => {
          asked.answer = answer;
        });
      await settle();
      return asked;
    },
    async free(owner, names) {
      table.release(owner, names.split(' '));
      await settle();
    },
    async end() {
      for (const listener of listeners) listener();
      await settle();
    },
  };
}

test('RES-7: one at a time, first come, first served', async () => {
  const { table, ask, free } = bench();
  const first = await ask('a', 'db');
  const others = [await ask('b', 'db'), await ask('c', 'db'), await ask('d', 'disk')];
  expect([first, ...others].map(({ answer }) => answer)).toEqual(['at once', undefined, undefined, 'at once']);
  await free('a', 'db');
  expect(others.map(({ answer }) => answer)).toEqual(['granted', undefined, 'at once']);
  await free('b', 'db');
  expect(others[1]?.answer).toBe('granted');
  await free('c', 'db');
  await free('d', 'disk');
  expect(table.idle).toBe(true);
});

test('RES-9: a name taken twice by one owner is released twice', async () => {
  const { ask, free } = bench();
  await ask('a', 'db');
  expect(await ask('a', 'db db disk')).toMatchObject({ answer: 'at once' });
  const other = await ask('b', 'db');
  await free('a', 'db db');
  expect(other.answer).toBeUndefined();
  await free('a', 'db');
  expect(other.answer).toBe('granted');
});

test('RES-11: a request that times out holds nothing and blocks no other', async () => {
  const { table, clock, listeners, ask, free } = bench();
  await ask('a', 'db');
  const impatient = await ask('b', 'db disk', 500);
  const behind = await ask('c', 'disk');
  clock.advance(499);
  await settle();
  expect([impatient.answer, behind.answer]).toEqual([undefined, undefined]);
  clock.advance(1);
  await settle();
  expect([impatient.answer, behind.answer]).toEqual(['timed-out', 'granted']);
  await free('a', 'db');
  expect(await ask('d', 'db', 500)).toMatchObject({ answer: 'at once' });
  expect([clock.timers, listeners.size]).toEqual([0, 0]);
  await free('d', 'db');
  await free('c', 'disk');
  expect(table.idle).toBe(true);
});

test('RES-13: locks of another owner cannot be released', async () => {
  const { ask, free } = bench();
  await ask('a', 'db');
  const waiting = await ask('b', 'db');
  for (const stranger of ['b', 'c', 'a/b', 'A', '']) await free(stranger, 'db other');
  expect(waiting.answer).toBeUndefined();
  await free('a', 'other');
  expect(waiting.answer).toBeUndefined();
  await free('a', 'db');
  expect(waiting.answer).toBe('granted');
});

test('waiting ends when the request ends', async () => {
  const { table, clock, listeners, ask, free, end } = bench();
  await ask('a', 'db');
  const waiting = [await ask('b', 'db', 1_000), await ask('c', 'db disk')];
  await end();
  expect(waiting.map(({ answer }) => answer)).toEqual(['ended', 'ended']);
  expect([clock.timers, listeners.size]).toEqual([0, 0]);
  await free('a', 'db');
  expect(table.idle).toBe(true);
  clock.advance(1_000);
  expect(waiting.map(({ answer }) => answer)).toEqual(['ended', 'ended']);
});

test('a request that has already ended does not wait', async () => {
  const { table, clock } = bench();
  expect(table.acquire(['db'], 'a', { clock })).toBeUndefined();
  const onEnd = (listener: () => void): (() => void) => {
    listener();
    return () => undefined;
  };
  expect(await table.acquire(['db'], 'b', { clock, timeoutMs: 500, onEnd })).toBe('ended');
  expect(clock.timers).toBe(0);
  expect(table.acquire(['disk'], 'b', { clock, onEnd })).toBeUndefined();
});

test('a later request overtakes only requests with none of its names', async () => {
  const { ask, free } = bench();
  await ask('a', 'x');
  const both = await ask('b', 'x y');
  const behind = await ask('c', 'y z');
  const last = await ask('d', 'z');
  expect(await ask('e', 'w')).toMatchObject({ answer: 'at once' });
  expect([both.answer, behind.answer, last.answer]).toEqual([undefined, undefined, undefined]);
  await free('a', 'x');
  expect([both.answer, behind.answer, last.answer]).toEqual(['granted', undefined, undefined]);
  await free('b', 'x y');
  expect([behind.answer, last.answer]).toEqual(['granted', undefined]);
  await free('c', 'z');
  expect(last.answer).toBe('granted');
});

test('an empty list of names is always granted', async () => {
  const { table, clock } = bench();
  expect(table.acquire([], 'a', { clock })).toBeUndefined();
  expect(table.idle).toBe(true);
});

test('nested calls take the locks of their outer call but exclude each other', async () => {
  const { ask, free } = bench();
  await ask('s/p', 'db');
  const stranger = await ask('s/q', 'db');
  const child = await ask('s/p/1', 'db');
  const sibling = await ask('s/p/2', 'db');
  const inner = await ask('s/p/1/1', 'db');
  const likeIt = await ask('s/pp', 'db');
  expect([child.answer, inner.answer]).toEqual(['at once', 'at once']);
  await free('s/p/1/1', 'db');
  expect(sibling.answer).toBeUndefined();
  await free('s/p/1', 'db');
  expect([sibling.answer, stranger.answer]).toEqual(['granted', undefined]);
  // Back to the outer call, which still holds it.
  await free('s/p/2', 'db');
  expect(stranger.answer).toBeUndefined();
  await free('s/p', 'db');
  expect([stranger.answer, likeIt.answer]).toEqual(['granted', undefined]);
});

test('nested calls keep locks that their outer call has released', async () => {
  const { ask, free } = bench();
  await ask('p', 'db');
  await ask('p/1', 'db');
  await free('p', 'db');
  const outer = await ask('p', 'db');
  const stranger = await ask('q', 'db');
  expect([outer.answer, stranger.answer]).toEqual([undefined, undefined]);
  await free('p/1', 'db');
  expect([outer.answer, stranger.answer]).toEqual(['granted', undefined]);
});

test.each([
  { what: 'itself', earlier: ['x'] },
  { what: 'with another name', earlier: ['x y'] },
  { what: 'behind other requests', earlier: ['x z', 'z y'] },
])('a request that waits for a call, $what, does not block the calls in it', async ({ earlier }) => {
  const { ask, free } = bench();
  await ask('p', 'x');
  const waiting: Asked[] = [];
  for (const [index, names] of earlier.entries()) waiting.push(await ask(`q${index}`, names));
  expect(waiting.every(({ answer }) => answer === undefined)).toBe(true);
  expect(await ask('p/1', 'x y')).toMatchObject({ answer: 'at once' });
  // Requests outside of the call still wait.
  expect(await ask('r', 'x y')).toMatchObject({ answer: undefined });
  await free('p/1', 'x y');
  await free('p', 'x');
  expect(waiting[0]?.answer).toBe('granted');
});

test('many requests in one queue and in many queues are all granted in order', async () => {
  const table = createLockTable();
  const count = 3_000;
  const order: number[] = [];
  const all = Array.from({ length: count }, async (_, index) => {
    const names = ['db', `own ${index}`];
    await table.acquire(names, `s/${index}`, { clock: systemClock });
    order.push(index);
    table.release(`s/${index}`, names);
  });
  await Promise.all(all);
  expect(order).toEqual(Array.from({ length: count }, (_, index) => index));
  expect(table.idle).toBe(true);
});
