import type { Json, JsonObject } from '@holdfast/core';
import { readTrace, runPlan } from '@holdfast/orchestrator';
import { denyTools, sequentialDependency } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import {
  checkedOf,
  type Doing,
  fail,
  failing,
  kinds,
  macrotask,
  nodeOf,
  ok,
  run,
  slow,
  tool,
  untimed,
} from './test-run.ts';

const go = { on_fail: 'continue' };
const skip = { on_fail: 'skip_dependents' };

describe('states and failure policy', () => {
  test.each<[string, readonly JsonObject[], readonly string[], string]>([
    [
      'EXE-1',
      [
        { id: 0, tool: 'bad', ...go },
        { id: 1, tool: 'good', depends_on: [0] },
      ],
      ['failed', 'ok'],
      'partial',
    ],
    [
      'EXE-3',
      [
        { id: 0, tool: 'bad', ...go },
        { id: 1, tool: 'good', ...go, depends_on: [0] },
        { id: 2, tool: 'good', depends_on: [1] },
      ],
      ['failed', 'ok', 'ok'],
      'partial',
    ],
    ['EXE-5', [{ id: 0, tool: 'bad', ...go }], ['failed'], 'failed'],
    [
      'EXE-7',
      [
        { id: 0, tool: 'bad' },
        { id: 1, tool: 'good', ...go, depends_on: [0] },
        { id: 2, tool: 'good', depends_on: [1] },
      ],
      ['failed', 'skipped', 'skipped'],
      'failed',
    ],
    [
      'skip_dependents: they and theirs, and nobody else',
      [
        { id: 0, tool: 'bad', ...skip },
        { id: 1, tool: 'good', ...go, depends_on: [0] },
        { id: 2, tool: 'good', ...go, depends_on: [1] },
        { id: 3, tool: 'good' },
        { id: 4, tool: 'good', depends_on: [3] },
      ],
      ['failed', 'skipped', 'skipped', 'ok', 'ok'],
      'partial',
    ],
    [
      'what waits for two is skipped for one',
      [
        { id: 0, tool: 'good' },
        { id: 1, tool: 'bad', ...skip },
        { id: 2, tool: 'good', depends_on: [0, 1] },
      ],
      ['ok', 'failed', 'skipped'],
      'failed',
    ],
    [
      'a node without inputs that says continue lets its dependants run',
      [
        { id: 0, tool: 'bad', ...go },
        { id: 1, tool: 'good', ...go, inputs: { x: { $from: 0 } } },
        { id: 2, tool: 'good', depends_on: [1] },
      ],
      ['failed', 'skipped', 'ok'],
      'partial',
    ],
    [
      'a node without inputs halts nothing, and what needs it is skipped',
      [
        { id: 0, tool: 'bad', ...go },
        { id: 1, tool: 'good', inputs: { x: { $from: 0 } } },
        { id: 2, tool: 'good', depends_on: [1] },
        { id: 3, tool: 'good' },
      ],
      ['failed', 'skipped', 'skipped', 'ok'],
      'partial',
    ],
    [
      'a reference that cannot be resolved is a failure of the node itself: it halts',
      [
        { id: 0, tool: 'good' },
        { id: 1, tool: 'good', inputs: { x: { $from: 0, path: 'nope' } } },
        { id: 2, tool: 'good', depends_on: [1] },
      ],
      ['ok', 'invalid', 'skipped'],
      'failed',
    ],
    [
      'REF-6 with continue',
      [
        { id: 0, tool: 'good' },
        { id: 1, tool: 'good', ...go, inputs: { x: 'a {{STEPS.0.items.5.t}}' } },
        { id: 2, tool: 'good', depends_on: [1] },
      ],
      ['ok', 'invalid', 'ok'],
      'partial',
    ],
  ])('%s', async (_name, nodes, expected, status) => {
    const { trace } = await run([tool('good', ok({ items: [] })), tool('bad', fail('broke'))], nodes);
    expect(kinds(trace)).toEqual(expected);
    expect(trace.status).toBe(status);
  });

  test('what was skipped says why, and because of whom', async () => {
    const tools = [tool('good', ok()), tool('bad', fail('broke'))];
    const { trace } = await run(tools, [
      { id: 'b', tool: 'bad', ...skip },
      { id: 'a', tool: 'bad', ...skip },
      { id: 'n', tool: 'bad', ...go },
      { id: 'c', tool: 'good', depends_on: ['a', 'b'] },
      { id: 'd', tool: 'good', depends_on: ['c'] },
      { id: 'e', tool: 'good', ...go, inputs: { x: ['{{STEPS.n}}', { $from: 'n' }] } },
    ]);
    expect(nodeOf(trace, 'c')).toMatchObject({ code: 'plan.dependency.failed', because: ['b', 'a'], attempts: 0 });
    expect(nodeOf(trace, 'd')).toMatchObject({ code: 'plan.dependency.failed', because: ['c'] });
    expect(nodeOf(trace, 'e')).toMatchObject({ code: 'plan.inputs.unavailable', because: ['n'], callId: undefined });
  });

  test('EXE-9: 25 independent nodes, at most 10 at a time', async () => {
    let now = 0;
    let most = 0;
    const clock = manualClock();
    const busy: Doing = async (input, context) => {
      now += 1;
      most = Math.max(most, now);
      await slow(clock, 5)(input, context);
      now -= 1;
      return null;
    };
    const nodes = Array.from({ length: 25 }, (_, id) => ({ id, tool: 'busy' }));
    const { trace } = await run([tool('busy', busy)], nodes, {
      clock,
    });
    expect([most, trace.status]).toEqual([10, 'succeeded']);
    expect(trace.endedAtMs).toBe(15);
  });

  test('EXE-11: the trace is the same 20 times, whatever takes how long', async () => {
    const seen = new Set<string>();
    for (let time = 0; time < 20; time += 1) {
      const clock = manualClock();
      const random: Doing = (input, context) =>
        slow(clock, 1 + Math.floor(Math.random() * 20), input['x'] as Json)(input, context);
      const nodes = Array.from({ length: 12 }, (_, id) => ({ id, tool: 'random', inputs: { x: id } }));
      const { trace } = await run([tool('random', random)], nodes, { clock, maxConcurrency: 4 });
      seen.add(JSON.stringify(untimed(trace)));
    }
    expect(seen.size).toBe(1);
  });

  test.each([[{ status: 'ok' }], [{ status: 200 }], [{ status: 'error' }], [{ success: false }]])(
    'EXE-13: %j is a value, and no failure',
    async (value) => {
      const { trace } = await run([tool('good', ok(value))], [{ id: 0, tool: 'good' }]);
      expect([trace.status, trace.output]).toEqual(['succeeded', value]);
    },
  );

  test.each<[string, () => unknown]>([
    [
      'a cycle',
      () => {
        const list: unknown[] = [];
        list.push(list);
        return list;
      },
    ],
    ['a function', () => () => 1],
    ['a BigInt', () => 1n],
    ['nothing', () => undefined],
  ])('EXE-15: %s is not a result, and the run continues by on_fail', async (_name, make) => {
    const tools = [tool('odd', make), tool('good', ok())];
    const { trace } = await run(tools, [
      { id: 0, tool: 'odd', ...go },
      { id: 1, tool: 'good', depends_on: [0] },
    ]);
    expect(kinds(trace)).toEqual(['invalid', 'ok']);
  });

  test('EXE-17: a plan whose tool is gone is checked again before anything runs', async () => {
    const calls: unknown[] = [];
    const [a, b] = [tool('a', (input) => calls.push(input)), tool('b', ok())];
    const plan = await checkedOf(
      [
        { id: 0, tool: 'a' },
        { id: 1, tool: 'b', depends_on: [0] },
      ],
      { tools: [a, b] },
    );
    const session = createSession();
    await expect(runPlan(plan, { tools: [a], session })).rejects.toMatchObject({
      code: 'plan.invalid',
      data: { violations: [{ code: 'plan.tool.unknown', node: 1 }] },
    });
    expect(calls).toEqual([]);
    expect(readTrace.bind(null, session.records())).toThrow('no run of a plan');
  });

  test('EXE-19: cancelled while two run: both hear of it, the rest is cancelled, and nothing is told after the end', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const heard: unknown[] = [];
    const stubborn: Doing = (_input, context) =>
      new Promise((resolve) => {
        context.signal.addEventListener('abort', () => {
          heard.push(context.callId);
          clock.after(50, () => {
            try {
              context.progress('late');
            } catch {
              heard.push('closed');
            }
            resolve('late');
          });
        });
      });
    clock.after(10, () => controller.abort());
    const { trace, events } = await run(
      [tool('stubborn', stubborn), tool('good', ok())],
      [
        { id: 0, tool: 'stubborn' },
        { id: 1, tool: 'stubborn' },
        { id: 2, tool: 'good' },
        { id: 3, tool: 'good', depends_on: [2, 0] },
      ],
      { clock, signal: controller.signal, maxConcurrency: 2 },
    );
    expect(heard).toEqual(['plan_1_0', 'plan_1_1']);
    expect(trace.status).toBe('aborted');
    expect(kinds(trace)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    expect(trace.nodes.map(({ code }) => code)).toEqual([
      'call.aborted',
      'call.aborted',
      'plan.aborted',
      'plan.aborted',
    ]);
    const count = events.length;
    clock.advance(100);
    await macrotask();
    expect(heard).toHaveLength(4);
    expect(events).toHaveLength(count);
  });

  test('EXE-21: who stops reading stops nothing', async () => {
    const tools = [tool('good', ok(1))];
    const plan = await checkedOf(
      [
        { id: 0, tool: 'good' },
        { id: 1, tool: 'good', depends_on: [0] },
      ],
      { tools },
    );
    const running = runPlan(plan, { tools, session: createSession() });
    for await (const event of running) if (event.type === 'node-start') break;
    const idle = running[Symbol.asyncIterator]();
    expect((await running).status).toBe('succeeded');
    expect((await running.result).output).toBe(1);
    expect(await idle.next()).toMatchObject({ done: true });
  });

  test('EXE-23: inputs that the tool refuses once they are resolved', async () => {
    const calls: unknown[] = [];
    const typed = tool('typed', (input) => calls.push(input), {
      inputSchema: jsonSchema({ type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] }) as never,
    });
    const { trace } = await run(
      [tool('good', ok('text')), typed],
      [
        { id: 0, tool: 'good' },
        { id: 1, tool: 'typed', ...go, inputs: { x: { $from: 0 } } },
        { id: 2, tool: 'good', depends_on: [1] },
      ],
    );
    expect(kinds(trace)).toEqual(['ok', 'invalid', 'ok']);
    expect(nodeOf(trace, 1)).toMatchObject({ code: 'arguments.invalid', attempts: 0, callId: 'plan_1_1' });
    expect(calls).toEqual([]);
  });

  test('EXE-25: a node that a policy denies', async () => {
    const { trace } = await run(
      [tool('good', ok()), tool('late', ok())],
      [
        { id: 0, tool: 'late', ...go },
        { id: 1, tool: 'good', depends_on: [0] },
      ],
      { policies: [sequentialDependency({ late: ['good'] })] },
    );
    expect(kinds(trace)).toEqual(['denied', 'ok']);
    expect(nodeOf(trace, 0)).toMatchObject({ code: 'policy.denied', attempts: 0 });
    expect(nodeOf(trace, 0).decisions[0]).toMatchObject({ type: 'deny', reason: expect.stringContaining('good') });
  });

  test('TRC-2: every node has one entry and one end, however it ended', async () => {
    const { trace, events } = await run(
      [tool('good', ok()), tool('bad', fail()), tool('denied', ok())],
      [
        { id: 0, tool: 'bad', ...skip },
        { id: 1, tool: 'good', depends_on: [0] },
        { id: 2, tool: 'denied', ...go },
        { id: 3, tool: 'good' },
      ],
      { policies: [denyTools(['denied'])] },
    );
    expect(kinds(trace)).toEqual(['failed', 'skipped', 'denied', 'ok']);
    const ends = events.flatMap((event) => (event.type === 'node-end' ? [event.node.node] : []));
    expect(ends.sort()).toEqual([0, 1, 2, 3]);
  });
});

describe('timeouts, retries, locks, rates', () => {
  test('RES-1: a time that is over is over after that time, and what comes later counts for nothing', async () => {
    const clock = manualClock();
    let told = false;
    const deaf: Doing = (_input, { signal }) => {
      signal.addEventListener('abort', () => {
        told = true;
      });
      return new Promise((resolve) => clock.after(4_000, () => resolve('late')));
    };
    const { trace, session } = await run([tool('deaf', deaf)], [{ id: 0, tool: 'deaf', timeout: 1 }], { clock });
    expect(nodeOf(trace, 0)).toMatchObject({ kind: 'timed-out', code: 'call.timeout', durationMs: 1_000, value: null });
    expect([told, trace.status, trace.endedAtMs]).toEqual([true, 'failed', 1_000]);
    clock.advance(5_000);
    await macrotask();
    expect([...session.records()].map(({ type }) => type)).toContain('tool-call-late');
    expect(readTrace(session.records())).toEqual(trace);
  });

  test('RES-3: an attempt that does not stop is not followed by another', async () => {
    const clock = manualClock();
    let calls = 0;
    const deaf: Doing = () => {
      calls += 1;
      return new Promise((resolve) => clock.after(4_000, () => resolve('late')));
    };
    const { trace } = await run([tool('deaf', deaf)], [{ id: 0, tool: 'deaf', timeout: 1, retry: 1 }], { clock });
    expect([calls, nodeOf(trace, 0).kind]).toEqual([1, 'timed-out']);
  });

  test('an attempt that stops in time is followed by another', async () => {
    const clock = manualClock();
    let calls = 0;
    const second: Doing = (input, context) => slow(clock, calls++ === 0 ? 4_000 : 10, 'there')(input, context);
    const { trace } = await run([tool('second', second)], [{ id: 0, tool: 'second', timeout: 1, retry: 1 }], { clock });
    expect(nodeOf(trace, 0)).toMatchObject({
      kind: 'ok',
      value: 'there',
      attempts: 2,
      retries: [{ code: 'call.timeout' }],
    });
  });

  test.each([
    [0, 1],
    [2, 3],
  ])('RES-5: a tool that fails with retry %i is called %i times', async (retry, expected) => {
    let calls = 0;
    const { trace } = await run(
      [
        tool('bad', () => {
          calls += 1;
          throw new Error('no');
        }),
      ],
      [{ id: 0, tool: 'bad', retry }],
    );
    expect([calls, nodeOf(trace, 0).attempts]).toEqual([expected, expected]);
  });

  test('what must not be repeated is not tried again', async () => {
    let calls = 0;
    const once = tool(
      'once',
      () => {
        calls += 1;
        throw new Error('no');
      },
      { effects: 'external' },
    );
    const { trace } = await run([once], [{ id: 0, tool: 'once', retry: 3 }]);
    expect([calls, nodeOf(trace, 0).attempts]).toEqual([1, 1]);
  });

  test('between attempts time doubles, and is shortened by chance', async () => {
    const clock = manualClock();
    const at: number[] = [];
    const tools = [
      tool('bad', () => {
        at.push(clock.now());
        throw new Error('no');
      }),
    ];
    await run(tools, [{ id: 0, tool: 'bad', retry: 3 }], { clock, random: () => 0 });
    expect(at).toEqual([0, 500, 1_500, 3_500]);
  });

  test('REAL-7: the third attempt succeeds', async () => {
    const { trace } = await run([tool('late', failing(2, 'there'))], [{ id: 0, tool: 'late', retry: 2 }]);
    expect(nodeOf(trace, 0)).toMatchObject({ kind: 'ok', attempts: 3, value: 'there' });
    expect(nodeOf(trace, 0).retries).toHaveLength(2);
  });

  const locked = (doing: Doing): ReturnType<typeof tool> =>
    tool('locked', doing, { locks: (input) => [String(input['x'])] });

  test('RES-7: nodes with one lock never overlap, and come first in plan order first', async () => {
    const clock = manualClock();
    const log: string[] = [];
    const note: Doing = async (input, context) => {
      log.push(`${context.callId}+`);
      await slow(clock, 3)(input, context);
      log.push(`${context.callId}-`);
      return null;
    };
    const nodes = [0, 1, 2].map((id) => ({ id, tool: 'locked', inputs: { x: 'db' } }));
    const { events, trace } = await run([locked(note), tool('good', ok())], [...nodes, { id: 3, tool: 'good' }], {
      clock,
    });
    expect(log.map((line) => line.slice(-2))).toEqual(['0+', '0-', '1+', '1-', '2+', '2-']);
    const waits = events.flatMap((event) => (event.type === 'node-wait' ? [[event.node, event.wait]] : []));
    expect(waits).toEqual([1, 2].map((id) => [id, { type: 'locks', names: ['db'] }]));
    // It is behind those that wait, and does not wait for them.
    expect(nodeOf(trace, 3).startedAtMs).toBe(0);
  });

  test('RES-11: who waits too long for a lock ends without a call', async () => {
    const clock = manualClock();
    let calls = 0;
    const hold: Doing = (input, context) => {
      calls += 1;
      return slow(clock, 1_000)(input, context);
    };
    const { trace } = await run(
      [locked(hold)],
      [
        { id: 0, tool: 'locked', inputs: { x: 'db' } },
        { id: 1, tool: 'locked', ...go, inputs: { x: 'db' } },
      ],
      { clock, lockTimeoutMs: 50 },
    );
    expect(kinds(trace)).toEqual(['ok', 'timed-out']);
    expect(nodeOf(trace, 1)).toMatchObject({ code: 'lock.timeout', callId: undefined, endedAtMs: 50 });
    expect(calls).toBe(1);
  });

  test('a tool that does not tell its locks runs alone', async () => {
    const clock = manualClock();
    let now = 0;
    let besideOdd = 0;
    const count =
      (odd: boolean): Doing =>
      async (input, context) => {
        now += 1;
        await slow(clock, 4)(input, context);
        if (odd) besideOdd = Math.max(besideOdd, now);
        now -= 1;
        return null;
      };
    const odd = tool('odd', count(true), {
      locks: () => {
        throw new Error('no');
      },
    });
    const nodes = ['good', 'odd', 'good', 'odd', 'good'].map((name, id) => ({ id, tool: name, inputs: { x: id } }));
    const { trace } = await run([odd, tool('good', count(false))], nodes, { clock });
    expect([trace.status, besideOdd]).toEqual(['succeeded', 1]);
  });

  test('a rate delays its tool, and no other', async () => {
    const clock = manualClock();
    const at: Record<string, number[]> = { rated: [], free: [] };
    const note =
      (name: string): Doing =>
      () =>
        at[name]?.push(clock.now());
    const nodes = ['rated', 'rated', 'rated', 'free', 'rated', 'free'].map((name, id) => ({ id, tool: name }));
    const { events } = await run([tool('rated', note('rated')), tool('free', note('free'))], nodes, {
      clock,
      rateLimits: { rated: { calls: 2, perMs: 100 } },
      maxConcurrency: 2,
    });
    expect(at).toEqual({ rated: [0, 0, 100, 100], free: [0, 0] });
    expect(events).toContainEqual({ type: 'node-wait', node: 2, wait: { type: 'rate', untilMs: 100 }, atMs: 0 });
  });

  test('a lock and a rate at once: both hold', async () => {
    const clock = manualClock();
    const at: number[] = [];
    const both = tool(
      'both',
      (input, context) => {
        at.push(clock.now());
        return slow(clock, 5)(input, context);
      },
      { locks: () => ['db'] },
    );
    const nodes = [0, 1, 2].map((id) => ({ id, tool: 'both' }));
    await run([both], nodes, { clock, rateLimits: { both: { calls: 2, perMs: 50 } } });
    expect(at).toEqual([0, 5, 50]);
  });

  test('a run that is cancelled waits neither for locks nor for rates', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    clock.after(5, () => controller.abort());
    const nodes = [
      ...[0, 1].map((id) => ({ id, tool: 'locked', inputs: { x: 'db' } })),
      ...[2, 3].map((id) => ({ id, tool: 'rated' })),
    ];
    const { trace } = await run([locked(slow(clock, 50)), tool('rated', ok())], nodes, {
      clock,
      signal: controller.signal,
      rateLimits: { rated: { calls: 1, perMs: 1_000 } },
    });
    expect(kinds(trace)).toEqual(['cancelled', 'cancelled', 'ok', 'cancelled']);
    expect([trace.endedAtMs, clock.pending]).toEqual([5, 0]);
  });
});
