import { expect, test } from 'vitest';
import { testChildren } from './test-child.ts';
import { testClock, testContext, until, useTestFolder, writeTool } from './test-tools.ts';
import { createToolPool } from './tool-pool.ts';

useTestFolder();

test('a process that does not say whether it is idle is ended, and the next call has another', async () => {
  const { launch, children } = testChildren();
  const clock = testClock();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock });
  const tool = writeTool('');
  const first = pool.run(tool, {}, testContext());
  await until(() => children.length === 1);
  children[0]?.say({ type: 'returned', call: 1, idle: false, value: 1 });
  expect(await first).toBe(1);
  // Nobody waits for it, so that a host which has finished can end; then a call does.
  expect(children[0]?.held).toBe(false);
  const second = pool.run(tool, {}, testContext());
  clock.advance(999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(children).toHaveLength(1);
  expect(children[0]?.held).toBe(true);
  clock.advance(1);
  await until(() => children.length === 2);
  expect(children[0]?.kills).toBe(1);
  children[1]?.say({ type: 'returned', call: 1, idle: true, value: 2 });
  expect(await second).toBe(2);
});

test('a process that a call waited for takes that call when it is idle, and keeps no host alive after it', async () => {
  const { launch, children } = testChildren();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock: testClock() });
  const tool = writeTool('');
  const first = pool.run(tool, {}, testContext());
  await until(() => children.length === 1);
  children[0]?.say({ type: 'returned', call: 1, idle: false, value: 1 });
  await first;
  const second = pool.run(tool, {}, testContext());
  children[0]?.say({ type: 'idle', call: 1 });
  await until(() => children[0]?.sent.length === 2);
  children[0]?.say({ type: 'returned', call: 2, idle: true, value: 2 });
  expect(await second).toBe(2);
  expect([children.length, children[0]?.held]).toEqual([1, false]);
});

test('of a version of the past no process is kept, though it may still be called', async () => {
  const { launch, children } = testChildren();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock: testClock() });
  const tool = writeTool('');
  const returned = { type: 'returned', call: 1, idle: true, value: 1 };
  const idle = pool.run(tool, {}, testContext());
  await until(() => children.length === 1);
  const busy = pool.run(tool, {}, testContext());
  await until(() => children.length === 2);
  children[0]?.say(returned);
  await idle;
  expect(children.map(({ kills }) => kills)).toEqual([0, 0]);
  expect(pool.retire?.(tool)).toBe(false);
  expect(children.map(({ kills }) => kills)).toEqual([1, 0]);
  children[1]?.say(returned);
  expect(await busy).toBe(1);
  expect(children.map(({ kills }) => kills)).toEqual([1, 1]);
  const later = pool.run(tool, {}, testContext());
  await until(() => children.length === 3);
  children[2]?.say(returned);
  expect(await later).toBe(1);
  expect(children.map(({ kills }) => kills)).toEqual([1, 1, 1]);
  // The same bytes again are a version of their own.
  const anew = { ...tool };
  const next = pool.run(anew, {}, testContext());
  await until(() => children.length === 4);
  children[3]?.say(returned);
  expect(await next).toBe(1);
  expect(children[3]?.kills).toBe(0);
});
