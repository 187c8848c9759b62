import { expect, test } from 'vitest';
import { testChildren } from './test-child.ts';
import { testClock, testContext, until, writeTool } from './test-tools.ts';
import { createToolPool } from './tool-pool.ts';

test('a process that does not say whether it is idle is ended, and the next call has another', async () => {
  const { launch, children } = testChildren();
  const clock = testClock();
  const pool = createToolPool(launch, { verify: async () => 'f'.repeat(64), clock });
  const tool = writeTool('');
  const first = pool.run(tool, {}, testContext());
  await until(() => children.length === 1);
  children[0]?.say({ type: 'returned', call: 1, idle: false, value: 1 });
  expect(await first).toBe(1);
  const second = pool.run(tool, {}, testContext());
  clock.advance(4_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(children).toHaveLength(1);
  clock.advance(1);
  await until(() => children.length === 2);
  expect(children[0]?.kills).toBe(1);
  children[1]?.say({ type: 'returned', call: 1, idle: true, value: 2 });
  expect(await second).toBe(2);
});
