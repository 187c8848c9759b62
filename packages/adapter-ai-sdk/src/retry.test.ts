import type { ModelEvent } from '@holdfast/core';
import type { Deadline } from '@holdfast/core/types';
import { expect, test } from 'vitest';
import { aiSdkModel } from './ai-sdk-model.ts';
import { collect, fakeModel, finish, type Reply, request, text } from './fixtures.ts';

const good = [...text('Hi'), finish('v4', 'stop')];

function failure(statusCode: number | undefined, more: object = {}): Reply {
  return { throws: Object.assign(new Error('no'), { name: 'AI_APICallError', statusCode, ...more }) };
}

interface Setting {
  readonly maxRetries?: number;
  readonly random?: () => number;
  readonly remainingMs?: number;
}

/** Fires timers at once and records their delays. */
async function attempt(replies: readonly Reply[], { remainingMs, ...options }: Setting = {}) {
  const waits: number[] = [];
  const model = fakeModel(replies);
  const clock = {
    now: () => 0,
    after(delayMs: number, run: () => void) {
      waits.push(delayMs);
      queueMicrotask(run);
      return () => undefined;
    },
  };
  const deadline: Deadline | undefined =
    remainingMs === undefined ? undefined : { atMs: remainingMs, remainingMs: () => remainingMs };
  const outcome = await collect(aiSdkModel(model, { clock, random: () => 1, ...options }), { deadline }).then(
    (events) => events.map(({ type }) => type).join(' '),
    (error: { readonly code: string }) => error.code,
  );
  return { outcome, waits, asked: model.requests.length };
}

const done = 'text-delta finish';

test.each<[string, readonly Reply[], Setting, Awaited<ReturnType<typeof attempt>>]>([
  ['twice at most', [failure(500), failure(502), good], {}, { outcome: done, waits: [500, 1000], asked: 3 }],
  [
    'and then no more',
    [failure(500), failure(500), failure(500), good],
    {},
    { outcome: 'model.failed', waits: [500, 1000], asked: 3 },
  ],
  ['as often as told', [failure(500), good], { maxRetries: 0 }, { outcome: 'model.failed', waits: [], asked: 1 }],
  ['spread', [failure(500), good], { random: () => 0 }, { outcome: done, waits: [250], asked: 2 }],
  ['408', [failure(408), good], {}, { outcome: done, waits: [500], asked: 2 }],
  ['409', [failure(409), good], {}, { outcome: done, waits: [500], asked: 2 }],
  ['429', [failure(429), good], {}, { outcome: done, waits: [500], asked: 2 }],
  ['529', [failure(529), good], {}, { outcome: done, waits: [500], asked: 2 }],
  ['not 400', [failure(400), good], {}, { outcome: 'model.request_invalid', waits: [], asked: 1 }],
  ['not 401', [failure(401), good], {}, { outcome: 'model.unauthorized', waits: [], asked: 1 }],
  [
    'not an empty account',
    [failure(429, { data: { error: { code: 'insufficient_quota' } } }), good],
    {},
    { outcome: 'model.rate_limited', waits: [], asked: 1 },
  ],
  [
    'not what the provider calls final',
    [failure(500, { isRetryable: false }), good],
    {},
    { outcome: 'model.failed', waits: [], asked: 1 },
  ],
  [
    'a lost connection',
    [{ throws: new TypeError('fetch failed') }, good],
    {},
    { outcome: done, waits: [500], asked: 2 },
  ],
  [
    'a cause of the network',
    [{ throws: new Error('odd', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }) }, good],
    {},
    { outcome: done, waits: [500], asked: 2 },
  ],
  [
    'not a mistake in a program',
    [{ throws: new TypeError('x is not a function') }, good],
    {},
    { outcome: 'model.failed', waits: [], asked: 1 },
  ],
  [
    'an error part before anything was passed on',
    [[{ type: 'error', error: { type: 'overloaded_error' } }], good],
    {},
    { outcome: done, waits: [500], asked: 2 },
  ],
  [
    'thoughts are not passed on',
    [
      [
        { type: 'reasoning-delta', id: '0', delta: 'Hm' },
        { type: 'error', error: { type: 'overloaded_error' } },
      ],
      good,
    ],
    {},
    { outcome: done, waits: [500], asked: 2 },
  ],
  [
    'not after text',
    [[...text('Hi'), { type: 'error', error: { type: 'overloaded_error' } }], good],
    {},
    { outcome: 'model.overloaded', waits: [], asked: 1 },
  ],
  [
    'not after a tool of the provider',
    [
      [
        { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true },
        { type: 'error', error: { type: 'overloaded_error' } },
      ],
      good,
    ],
    {},
    { outcome: 'model.overloaded', waits: [], asked: 1 },
  ],
  ['a message without an end', [[], good], {}, { outcome: done, waits: [500], asked: 2 }],
  [
    'as late as asked',
    [failure(429, { responseHeaders: { 'retry-after': '7' } }), good],
    {},
    { outcome: done, waits: [7_000], asked: 2 },
  ],
  [
    'not when asked to wait for minutes',
    [failure(429, { responseHeaders: { 'retry-after': '3600' } }), good],
    {},
    { outcome: 'model.rate_limited', waits: [], asked: 1 },
  ],
  ['within the deadline', [failure(500), good], { remainingMs: 501 }, { outcome: done, waits: [500], asked: 2 }],
  [
    'not past the deadline',
    [failure(500), good],
    { remainingMs: 500 },
    { outcome: 'model.failed', waits: [], asked: 1 },
  ],
])('retries: %s', async (_, replies, setting, expected) => {
  expect(await attempt(replies, setting)).toEqual(expected);
});

test('canceling the request ends the delay and clears its timer', async () => {
  const controller = new AbortController();
  let stopped = 0;
  const clock = {
    now: () => 0,
    after() {
      queueMicrotask(() => controller.abort(new Error('enough')));
      return () => {
        stopped += 1;
      };
    },
  };
  const model = fakeModel([failure(500), good]);
  const events: ModelEvent[] = [];
  const reading = async (): Promise<void> => {
    for await (const event of aiSdkModel(model, { clock }).stream(request({ signal: controller.signal })))
      events.push(event);
  };
  await expect(reading()).rejects.toThrow('enough');
  expect({ stopped, asked: model.requests.length, events }).toEqual({ stopped: 1, asked: 1, events: [] });
});
