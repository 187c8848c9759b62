import { expect, test } from 'vitest';
import { testClock, testContext, until, useTestFolder, writeTool } from '../test-tools.ts';
import { createToolPool } from './pool.ts';
import { testChildren } from './test-child.ts';

useTestFolder();

test('a process that does not report whether it is idle is ended, and the next call has another', async () => {
  const { launch, children } = testChildren();
  const clock = testClock();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock });
  const tool = writeTool('');
  const first = pool.run(tool, {}, testContext());
  await until(() => children.length === 1);
  children[0]?.say({ type: 'returned', call: 1, idle: false, value: 1 });
  expect(await first).toBe(1);
  // It does not keep the host alive; a call does.
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

test('a process that a call waits for takes that call once idle, and does not keep the host alive afterwards', async () => {
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

test('processes of an outdated version are not kept, though it can still be called', async () => {
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
  // The same bytes again are a separate version.
  const anew = { ...tool };
  const next = pool.run(anew, {}, testContext());
  await until(() => children.length === 4);
  children[3]?.say(returned);
  expect(await next).toBe(1);
  expect(children[3]?.kills).toBe(0);
});

test('a call starts and is sent once its process is ready', async () => {
  const { launch, children } = testChildren({ ready: false });
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock: testClock() });
  let begun = 0;
  const durable = Promise.withResolvers<void>();
  const begin = (): Promise<void> => {
    begun += 1;
    return durable.promise;
  };
  const calling = pool.run(writeTool(''), {}, { ...testContext(), begin });
  await until(() => children.length === 1);
  expect([begun, children[0]?.held]).toEqual([0, true]);
  children[0]?.say({ type: 'ready' });
  await until(() => begun === 1);
  const sent = (): unknown => children[0]?.sent.map(({ message }) => message['type']);
  expect(sent()).toEqual([]);
  durable.resolve();
  await until(() => children[0]?.sent.length === 1);
  expect(sent()).toEqual(['call']);
  children[0]?.say({ type: 'returned', call: 1, idle: true, value: 1 });
  expect(await calling).toBe(1);
});

test('a process that becomes ready after its call ended serves the next one, and does not keep the host alive', async () => {
  const { launch, children } = testChildren({ ready: false });
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock: testClock() });
  const tool = writeTool('');
  const context = testContext();
  const first = pool.run(tool, {}, context);
  await until(() => children.length === 1);
  context.abort('over');
  await expect(first).rejects.toBe('over');
  children[0]?.say({ type: 'ready' });
  await until(() => children[0]?.held === false);
  const second = pool.run(tool, {}, testContext());
  await until(() => children[0]?.sent.length === 1);
  children[0]?.say({ type: 'returned', call: 1, idle: true, value: 2 });
  expect(await second).toBe(2);
  expect(children).toHaveLength(1);
});

test.each([
  { how: 'ends', code: 'tool.process.lost', reason: 'exited' },
  { how: 'is silent', code: 'tool.process.lost', reason: 'unresponsive' },
  { how: 'sends something else first', code: 'tool.process.lost', reason: 'protocol' },
] as const)('a process that $how before it is ready starts no call', async ({ how, code }) => {
  const { launch, children } = testChildren({ ready: false });
  const clock = testClock();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock });
  let begun = 0;
  const begin = async (): Promise<void> => {
    begun += 1;
  };
  const calling = pool.run(writeTool(''), {}, { ...testContext(), begin });
  calling.catch(() => undefined);
  await until(() => children.length === 1);
  if (how === 'ends') children[0]?.listener.ended({ type: 'exited', how: 'with code 1' });
  else if (how === 'is silent') for (let half = 0; half < 2; half += 1) clock.advance(30_000);
  else children[0]?.say({ type: 'returned', call: 0, idle: true, value: 1 });
  await expect(calling).rejects.toMatchObject({ code });
  expect(begun).toBe(0);
});

test('a process that ends while its call starts has not run it', async () => {
  const { launch, children } = testChildren();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock: testClock() });
  const begin = async (): Promise<void> => children[0]?.listener.ended({ type: 'exited', how: 'with code 1' });
  const calling = pool.run(writeTool(''), {}, { ...testContext(), begin });
  await expect(calling).rejects.toMatchObject({ code: 'tool.process.not_started' });
  expect(children[0]?.sent).toEqual([]);
});
