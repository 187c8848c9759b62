import type { Clock, ListState } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { every, some } from './combinators.ts';
import { callOf, runPolicy } from './fixtures.ts';
import { rateLimit } from './rate-limit.ts';
import { requireApproval } from './require-approval.ts';
import { unless } from './unless.ts';

function createClock(): Clock & { nowMs: number } {
  return {
    nowMs: 1_000_000,
    now() {
      return this.nowMs;
    },
    after: () => () => undefined,
  };
}

test.each([
  { title: 'none yet', at: [], type: 'allow' },
  { title: 'one below the limit', at: [0], type: 'allow' },
  { title: 'the limit', at: [0, 400], type: 'deny', reason: 'At most 2 calls in 1 s: try again in 500 ms.' },
  { title: 'the first just inside the window', at: [-499, 400], type: 'deny', reason: 'try again in 1 ms.' },
  { title: 'the first just outside the window', at: [-500, 400], type: 'allow' },
  { title: 'more than the limit', at: [0, 100, 200], type: 'deny', reason: 'try again in 600 ms.' },
  { title: 'a clock set back a little', at: [1_200, 1_400], type: 'deny', reason: 'try again in 2 s.' },
  { title: 'a clock set back an hour', at: [3_600_000, 3_600_100], type: 'allow' },
  { title: 'the limit reached after that', at: [3_600_000, 100, 400], type: 'deny', reason: 'try again in 600 ms.' },
])('two a second, with $title: $type', async ({ at, type, reason = '' }) => {
  const clock = createClock();
  const run = runPolicy(rateLimit({ maxCalls: 2, perMs: 1_000, clock }));
  const startMs = clock.nowMs;
  for (const offset of at) {
    clock.nowMs = startMs + offset;
    const call = callOf('search');
    // Also if denied: it may have been let through.
    await run.check(call);
    run.succeed(call);
  }
  clock.nowMs = startMs + 500;
  const answer = await run.check(callOf('search'));
  expect(answer).toMatchObject({ type });
  if (answer.type === 'deny') expect(answer.reason).toContain(reason);
  // The state is complete.
  const other = runPolicy(rateLimit({ maxCalls: 2, perMs: 1_000, clock }));
  other.load(run.save());
  expect(await other.check(callOf('search'))).toEqual(answer);
});

test('other tools neither count nor wait', async () => {
  const clock = createClock();
  const policy = rateLimit({ maxCalls: 1, perMs: 60_000, tools: ['search', 'fetch'], clock, id: 'web' });
  expect(policy).toMatchObject({ id: 'web', mentions: ['search', 'fetch'] });
  const run = runPolicy(policy);
  run.succeed(callOf('read'));
  expect(await run.check(callOf('search'))).toMatchObject({ type: 'allow' });
  run.succeed(callOf('fetch'));
  expect(await run.check(callOf('search'))).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('1 call in 60 s'),
  });
  expect(await run.check(callOf('read'))).toMatchObject({ type: 'allow' });
});

test('policy.refused: rate_limit: of concurrent calls that passed the check, no more than the limit succeed', async () => {
  const clock = createClock();
  const run = runPolicy(rateLimit({ maxCalls: 1, perMs: 1_000, clock }));
  const [first, second] = [callOf('search'), callOf('fetch')];
  for (const call of [first, second]) expect(await run.check(call)).toMatchObject({ type: 'allow' });
  run.succeed(first);
  expect(() => run.succeed(second)).toThrow(
    expect.objectContaining({
      code: 'policy.refused',
      reason: 'rate_limit',
      data: { reason: 'rate_limit', tool: 'fetch', maxCalls: 1, perMs: 1_000 },
    }),
  );
  clock.nowMs += 1_000;
  run.succeed(second);
});

test('a call that ran despite a denial succeeds and counts', async () => {
  const clock = createClock();
  const run = runPolicy(some(rateLimit({ maxCalls: 1, perMs: 1_000, clock }), requireApproval({ tools: ['search'] })));
  run.succeed(callOf('search'));
  const approved = callOf('search');
  expect(await run.check(approved)).toMatchObject({ type: 'ask' });
  clock.nowMs += 900;
  run.succeed(approved);
  clock.nowMs += 900;
  expect(await run.check(callOf('search'))).toMatchObject({ type: 'ask' });
});

test('a call that was denied, then allowed by a second check, is held to the limit', async () => {
  const clock = createClock();
  const run = runPolicy(rateLimit({ maxCalls: 1, perMs: 1_000, clock }));
  const [early, waiting, other] = [callOf('search'), callOf('search'), callOf('search')];
  run.succeed(early);
  expect(await run.check(waiting)).toMatchObject({ type: 'deny' });
  clock.nowMs += 1_000;
  expect(await run.check(waiting)).toMatchObject({ type: 'allow' });
  run.succeed(other);
  expect(() => run.succeed(waiting)).toThrow(expect.objectContaining({ code: 'policy.refused', reason: 'rate_limit' }));
});

test('property: it equals a count of successes in the window, and stores few of them, alone and as a part', async () => {
  const step = fc.record({ waitMs: fc.integer({ min: 0, max: 700 }), succeeds: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 30 }), async (maxCalls, steps) => {
      const clock = createClock();
      const limit = rateLimit({ maxCalls, perMs: 1_000, clock });
      const alone = runPolicy(limit);
      const runs = [alone, runPolicy(every(limit))];
      const times: number[] = [];
      for (const { waitMs, succeeds } of steps) {
        clock.nowMs += waitMs;
        const inWindow = times.filter((time) => time > clock.nowMs - 1_000).length;
        const call = callOf('search');
        for (const run of runs) {
          expect((await run.check(call)).type).toBe(inWindow < maxCalls ? 'allow' : 'deny');
          if (succeeds) run.succeed(call);
        }
        if (succeeds) times.push(clock.nowMs);
      }
      // The cast: a standalone policy's state has the declared kind.
      expect((alone.state() as ListState<number>).size).toBeLessThanOrEqual(2 * maxCalls);
    }),
  );
});

// The casts stand for an untyped host.
test.each([
  { options: { maxCalls: 0, perMs: 1 } },
  { options: { maxCalls: 1.5, perMs: 1 } },
  { options: { maxCalls: Number.NaN, perMs: 1 } },
  { options: { maxCalls: '3' as unknown as number, perMs: 1 } },
  { options: { maxCalls: 1, perMs: 0 } },
  { options: { maxCalls: 1, perMs: Number.POSITIVE_INFINITY } },
  { options: { maxCalls: 1, perMs: undefined as unknown as number } },
  { options: { maxCalls: 1, perMs: 1, tools: [] } },
  { options: { maxCalls: 1, perMs: 1, tools: 'search' as unknown as string[] } },
])('$options is options.invalid', ({ options }) => {
  expect(() => rateLimit(options)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test.each([
  { tools: ['Search'], code: 'tool.invalid', reason: 'name.invalid' },
  { tools: ['then'], code: 'tool.invalid', reason: 'name.reserved' },
])('$tools is $code', ({ tools, code, reason }) => {
  expect(() => rateLimit({ maxCalls: 1, perMs: 1, tools })).toThrow(expect.objectContaining({ code, reason }));
});

test('it is timed, and so are policies built from it', () => {
  const limit = rateLimit({ maxCalls: 1, perMs: 1_000 });
  const asking = requireApproval({ tools: ['pay'] });
  const made = [limit, every(limit, asking), some(asking, limit), unless(() => false, limit)];
  expect(made.map(({ timed }) => timed)).toEqual([true, true, true, true]);
  expect(asking).not.toHaveProperty('timed');
  expect(every(asking)).not.toHaveProperty('timed');
});
