import { expect, test } from 'vitest';
import { checkedOf, fail, failing, kinds, ok, run, runChecked, tool } from './test-run.ts';

test('a plan that may retry more often than 10 times does, to the last time', async () => {
  const tools = [tool('flaky', failing(15, 'done'), { repeat: 'safe' }), tool('broken', fail(), { repeat: 'safe' })];
  const nodes = [
    { id: 'flaky', tool: 'flaky', retry: 15 },
    { id: 'broken', tool: 'broken', retry: 14, on_fail: 'continue' },
  ];
  const plan = await checkedOf(nodes, { tools, limits: { maxRetry: 15 } });
  const { trace } = await runChecked(plan, tools);
  expect(trace.nodes).toMatchObject([
    { kind: 'ok', value: 'done', attempts: 16 },
    { kind: 'failed', attempts: 15 },
  ]);
});

test.each([1_001, 1e9, Number.POSITIVE_INFINITY])('no more than 1,000 can be asked for: %s', async (maxRetry) => {
  const tools = [tool('a', ok())];
  await expect(checkedOf([{ id: 1, tool: 'a' }], { tools, limits: { maxRetry } })).rejects.toThrow('`limits.maxRetry`');
});

test.each(['none', 'external'] as const)(
  'locks that answer with a promise which rejects end nothing: %s',
  async (effects) => {
    const unheard: unknown[] = [];
    const listen = (reason: unknown): void => void unheard.push(reason);
    process.on('unhandledRejection', listen);
    try {
      const locks = (): never => Promise.reject(new Error('no locks')) as never;
      const { trace } = await run([tool('odd', ok(), { effects, locks })], [{ id: 1, tool: 'odd' }]);
      expect(kinds(trace)).toEqual(['ok']);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unheard).toEqual([]);
    } finally {
      process.off('unhandledRejection', listen);
    }
  },
);
