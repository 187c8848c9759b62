import { allow, ask, definePolicy, deny, type Json, type Policy, upsert } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { type CheckPlanOptions, checkPlan } from '@holdfast/orchestrator';
import {
  allowTools,
  callBudget,
  denyTools,
  every,
  observe,
  pathScope,
  rateLimit,
  readBeforeWrite,
  requireApproval,
  requireArguments,
  sequentialDependency,
  some,
  unless,
} from '@holdfast/policy';
import { createSession, type Session } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import { foretell, pay, type Step, step, tools, write } from './test-ahead.ts';

const from = { $from: 0 };
const cheap = requireArguments('pay', (input) => Number(Object(input).euros) <= 10);
const testFirst = (): Policy => sequentialDependency({ deploy: ['test'] });
const clock = manualClock();
const limit = rateLimit({ maxCalls: 1, perMs: 60_000, clock });
const noFiles = { resources: {} };
const someFiles = { resources: { filesystem: memoryFilesystem({ 'src/a.ts': 'old', '.env': 'key' }) } };

/** A session in which these tools have succeeded. */
async function after(names: readonly string[], policies: readonly Policy[]): Promise<Session> {
  const session = createSession();
  for (const name of names) await executeToolCall({ name, arguments: {} }, { tools, session, policies });
  return session;
}

interface Case {
  readonly what: string;
  readonly policies: readonly Policy[];
  readonly steps: readonly Step[];
  /** Tools that have succeeded before. */
  readonly before?: readonly string[];
  readonly options?: Partial<CheckPlanOptions>;
  readonly denied?: readonly number[];
  readonly asks?: readonly number[];
}

describe('what the policies of @holdfast/policy say ahead', () => {
  test.each<Case>([
    {
      what: 'requireApproval',
      policies: [requireApproval({ tools: ['pay'] })],
      steps: [step(0, 'test'), pay(1, 1), pay(2, from)],
      asks: [1, 2],
    },
    {
      what: 'requireApproval, by the input',
      policies: [requireApproval({ tools: ['pay'], when: (input) => Number(Object(input).euros) > 10 })],
      steps: [step(0, 'test'), pay(1, 1), pay(2, 11), pay(3, from)],
      asks: [2],
    },
    {
      what: 'requireApproval, when that throws',
      policies: [
        requireApproval({
          tools: ['pay'],
          when: () => {
            throw new Error('broke');
          },
        }),
      ],
      steps: [pay(0, 1), pay(1, from)],
      denied: [0, 1],
    },
    {
      what: 'requireApproval of what is granted',
      policies: [requireApproval({ tools: ['pay'] })],
      steps: [pay(0, 1)],
      options: { grants: ['pay'] },
    },
    { what: 'a dangerous tool', policies: [], steps: [step(0, 'wipe'), step(1, 'test')], asks: [0] },
    { what: 'a dangerous tool that is granted', policies: [], steps: [step(0, 'wipe')], options: { grants: ['wipe'] } },
    {
      what: 'allowTools',
      policies: [allowTools(['test', 'pay'])],
      steps: [step(0, 'test'), step(1, 'build'), pay(2, from), step(3, 'wipe')],
      denied: [1, 3],
    },
    { what: 'allowTools of none', policies: [allowTools([])], steps: [pay(0, 1), pay(1, from)], denied: [0, 1] },
    {
      what: 'denyTools',
      policies: [denyTools(['pay'])],
      steps: [step(0, 'test'), pay(1, 1), pay(2, from)],
      denied: [1, 2],
    },
    {
      what: 'denyTools, granted all the same',
      policies: [denyTools(['pay'])],
      steps: [pay(0, 1)],
      options: { grants: ['pay'] },
      denied: [0],
    },
    {
      what: 'requireArguments',
      policies: [cheap],
      steps: [step(0, 'test'), pay(1, 10), pay(2, 11), pay(3, from), pay(4, '{{STEPS.0}}')],
      denied: [2],
    },
    {
      what: 'pathScope without files',
      policies: [pathScope({ write: ['src'] })],
      steps: [write(0, 'src/b.ts')],
      options: noFiles,
    },
    {
      what: 'pathScope: where a path leads can change',
      policies: [pathScope({ write: ['src'] })],
      steps: [step(0, 'test'), write(1, 'src/b.ts'), write(2, 'etc/b.ts'), write(3, from)],
      options: someFiles,
    },
    {
      what: 'readBeforeWrite: files can change',
      policies: [readBeforeWrite()],
      steps: [write(0, 'src/a.ts'), write(1, 'new.ts')],
      options: someFiles,
    },
    {
      what: 'readBeforeWrite without files',
      policies: [readBeforeWrite()],
      steps: [write(0, 'src/a.ts'), step(1, 'test')],
      options: noFiles,
    },
    {
      what: 'readBeforeWrite, when it is not known which files there are',
      policies: [readBeforeWrite()],
      steps: [write(0, 'src/a.ts')],
    },
    {
      what: 'callBudget that is left',
      policies: [callBudget({ maxCalls: 2 })],
      steps: [step(0, 'test'), step(1, 'test', 0), step(2, 'test', 1)],
    },
    {
      what: 'callBudget that is used up',
      policies: [callBudget({ maxCalls: 2 })],
      before: ['test', 'build'],
      steps: [step(0, 'test'), pay(1, from)],
      denied: [0, 1],
    },
    { what: 'rateLimit', policies: [limit], steps: [step(0, 'test'), step(1, 'test', 0)] },
    { what: 'rateLimit that is reached: time lifts it', policies: [limit], before: ['test'], steps: [step(0, 'test')] },
    {
      what: 'sequentialDependency: never',
      policies: [testFirst()],
      steps: [step(0, 'build'), step(1, 'deploy', 0)],
      denied: [1],
    },
    {
      what: 'sequentialDependency: too late',
      policies: [testFirst()],
      steps: [step(0, 'deploy'), step(1, 'build', 0), step(2, 'test', 1)],
      denied: [0],
    },
    { what: 'sequentialDependency: before', policies: [testFirst()], steps: [step(0, 'test'), step(1, 'deploy', 0)] },
    {
      what: 'sequentialDependency: maybe before',
      policies: [testFirst()],
      steps: [step(1, 'deploy'), step(0, 'test')],
    },
    {
      what: 'sequentialDependency: in an earlier run',
      policies: [testFirst()],
      before: ['test'],
      steps: [step(1, 'deploy')],
    },
    {
      what: 'sequentialDependency: one of two',
      policies: [sequentialDependency({ deploy: ['test', 'build'] })],
      steps: [step(0, 'build'), step(1, 'deploy', 0), step(2, 'deploy')],
      denied: [1, 2],
    },
    {
      what: 'sequentialDependency: written in another order',
      policies: [testFirst()],
      steps: [step(1, 'deploy', 0), step(0, 'test')],
    },
    {
      what: 'every',
      policies: [every(cheap, testFirst())],
      steps: [step(0, 'build'), pay(1, 11), pay(2, 1), step(3, 'deploy')],
      denied: [1, 3],
    },
    {
      what: 'every, of a budget and an order',
      policies: [every(callBudget({ maxCalls: 2 }), testFirst())],
      steps: [step(0, 'test'), step(1, 'build'), step(2, 'build'), step(3, 'deploy')],
    },
    { what: 'every, with a limit in time', policies: [every(denyTools(['pay']), limit)], steps: [pay(0, 1)] },
    {
      what: 'some: one allows',
      policies: [some(denyTools(['pay']), cheap)],
      steps: [pay(0, 1), pay(1, 11)],
      denied: [1],
    },
    {
      what: 'some: a person instead of an order',
      policies: [some(testFirst(), requireApproval({ tools: ['deploy'] }))],
      steps: [step(0, 'build'), step(1, 'deploy')],
      asks: [1],
    },
    {
      what: 'some: three calls are free',
      policies: [some(callBudget({ maxCalls: 3 }), definePolicy({ name: 'more', check: () => ask('More?') }))],
      steps: [step(0, 'test'), step(1, 'test'), step(2, 'test'), step(3, 'test')],
      asks: [3],
    },
    {
      what: 'unless',
      policies: [unless(({ tool }) => tool.name === 'test', denyTools(['test', 'build']))],
      steps: [step(0, 'test'), step(1, 'build')],
      denied: [1],
    },
    {
      what: 'unless, by the input',
      policies: [unless(({ input }) => Object(input).euros === 1, denyTools(['pay']))],
      steps: [pay(0, 1), pay(1, 2), pay(2, from)],
      denied: [1],
    },
    {
      what: 'unless, of an order',
      policies: [unless(({ tool }) => tool.name === 'build', testFirst())],
      steps: [step(0, 'build'), step(1, 'deploy')],
      denied: [1],
    },
    {
      what: 'observe',
      policies: [observe(denyTools(['pay'])), observe(testFirst()), observe(allowTools([]))],
      steps: [pay(0, 1), step(1, 'deploy')],
    },
    {
      what: 'several that do not depend on each other',
      policies: [denyTools(['pay']), testFirst(), requireApproval({ tools: ['build'] })],
      steps: [pay(0, 1), step(1, 'deploy'), step(2, 'build')],
      denied: [0, 1],
    },
  ])('$what', async ({ policies, steps, before = [], options = {}, denied = [], asks = [] }) => {
    const session = await after(before, policies);
    expect(await foretell(steps, policies, { session, ...options })).toEqual({ denied, asks });
  });
});

describe('what is said of it', () => {
  test('a violation for each policy, at the node, with its reason', async () => {
    const policies = [denyTools(['pay'], { reason: 'No money leaves.' }), testFirst()];
    const found = await checkPlan({ nodes: [pay(7, 1), step(1, 'deploy')], final_output_node: 1 } as never, {
      tools,
      policies,
    });
    expect(found).toMatchObject({
      type: 'invalid',
      violations: [
        {
          code: 'plan.policy.denied',
          path: 'nodes[0]',
          node: 7,
          message: 'The policy `host/deny-tools` denies `pay` here in every possible run: No money leaves.',
        },
        {
          code: 'plan.policy.denied',
          path: 'nodes[1]',
          node: 1,
          message:
            'The policy `host/sequential-dependency` denies `deploy` here in every possible run: `deploy` needs `test` to succeed first: call `test`, then retry.',
        },
      ],
    });
  });

  test('what comes before is what the plan has before, where nothing waits for what comes later', async () => {
    const third = definePolicy<number>({
      name: 'third',
      initialState: 0,
      check: (_call, { state }) => (state < 2 ? allow : ask('A third?')),
      onResult: (_call, _result, { state }) => state + 1,
    }) as Policy;
    expect((await foretell([step(0, 'test'), step(1, 'build', 0), step(2, 'deploy')], [third])).asks).toEqual([2]);
    expect((await foretell([step(0, 'test', 2), step(1, 'build'), step(2, 'deploy')], [third])).asks).toEqual([0]);
  });

  test('the nodes that ask, in plan order, with their reasons and whether they are dangerous', async () => {
    const policies = [requireApproval({ tools: ['wipe', 'pay'], reason: 'Says the boss.' })];
    const nodes = [step(3, 'wipe', 2), step(1, 'test'), pay(2, 1)];
    const found = await checkPlan({ nodes, final_output_node: 3 } as never, { tools, policies });
    expect(found).toMatchObject({
      type: 'valid',
      asks: [
        { node: 3, tool: 'wipe', reasons: ['Says the boss.', '`wipe` is marked as dangerous.'], dangerous: true },
        { node: 2, tool: 'pay', reasons: ['Says the boss.'], dangerous: false },
      ],
    });
    expect(Object.isFrozen(found.type === 'valid' && found.asks[0]?.reasons)).toBe(true);
  });

  test('without policies: the dangerous ones, and else nothing', async () => {
    const plan = (tool: string): never => ({ nodes: [step(0, tool)], final_output_node: 0 }) as never;
    expect(await checkPlan(plan('wipe'), { tools })).toMatchObject({ asks: [{ node: 0, dangerous: true }] });
    expect(await checkPlan(plan('test'), { tools })).toMatchObject({ asks: [] });
  });
});

describe('policies and their host', () => {
  test('no policy sees a plan that is none', async () => {
    const seen: unknown[] = [];
    const policy = definePolicy({
      name: 'p',
      check: ({ tool }) => {
        seen.push(tool.name);
        return deny('No.');
      },
    });
    const bad = { nodes: [step(0, 'test'), pay(1, 'much'), step(2, 'nothing')], final_output_node: 0 };
    const found = await checkPlan(bad as never, { tools, policies: [policy] });
    expect(found.type === 'invalid' && found.violations.map(describeCode)).toEqual([
      'plan.input.type',
      'plan.tool.unknown',
    ]);
    expect(seen).toEqual([]);
  });

  test.each([
    { code: 'policy.invalid', reason: 'key.duplicate', policies: [denyTools(['pay']), denyTools(['test'])] },
    { code: 'policy.invalid', reason: 'tool.unknown', policies: [denyTools(['nowhere'])] },
  ])('$code, for every plan', async ({ code, reason, policies }) => {
    const good = { nodes: [step(0, 'test')], final_output_node: 0 };
    for (const plan of [good, {}, { status: 'error', error: 'No.' }]) {
      await expect(checkPlan(plan as never, { tools, policies })).rejects.toMatchObject({ code, reason });
    }
  });

  test('one that never answers is unsure, after the time for answers', async () => {
    const time = manualClock();
    let asked = 0;
    const hanging = definePolicy({
      name: 'hanging',
      check: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    const steps = Array.from({ length: 50 }, (_, id) => step(id, 'test'));
    const foretold = foretell(steps, [hanging, denyTools(['pay'])], { clock: time, policyTimeoutMs: 10 });
    while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
    time.advance(10);
    expect(await foretold).toEqual({ denied: [], asks: [] });
    expect(asked).toBe(1);
  });

  test('nothing is left of it: no record, no state, no file', async () => {
    const policies = [testFirst(), callBudget({ maxCalls: 5 }), readBeforeWrite(), requireApproval({ tools: ['pay'] })];
    const session = await after(['build'], policies);
    const filesystem = memoryFilesystem({ 'src/a.ts': 'old' });
    const before = { records: [...session.records()], exported: session.export(), snapshot: session.snapshot() };
    const seen: string[] = [];
    const looking = definePolicy<Json>({
      name: 'looking',
      stateKind: 'keyed',
      check: ({ tool }) => {
        seen.push(tool.name);
        return allow;
      },
      onResult: ({ tool }) => upsert(tool.name, true),
    });
    const steps = [step(0, 'test'), step(1, 'deploy', 0), write(2, 'src/a.ts'), pay(3, 1), step(4, 'wipe')];
    expect(await foretell(steps, [...policies, looking], { session, resources: { filesystem } })).toEqual({
      denied: [],
      asks: [3, 4],
    });
    expect(seen).toHaveLength(5);
    expect([...session.records()]).toEqual(before.records);
    expect(session.export()).toEqual(before.exported);
    expect(session.snapshot()).toEqual(before.snapshot);
    expect(new TextDecoder().decode(await filesystem.readOnly.read('src/a.ts'))).toBe('old');
    session.record({ type: 'later' });
    expect([...session.records()].slice(before.records.length).map(({ type }) => type)).toEqual(['later']);
  });

  test('ten thousand nodes: a policy is asked about each a few times, and told of each a few times', async () => {
    const asked = { checks: 0, results: 0 };
    const counted = (policy: Policy): Policy => ({
      ...policy,
      check: (call, context) => {
        asked.checks += 1;
        return policy.check(call, context);
      },
      onResult: (call, result, context) => {
        asked.results += 1;
        return policy.onResult?.(call, result, context);
      },
    });
    const policies = [counted(callBudget({ maxCalls: 5_000 })), counted(testFirst())];
    const size = 10_000;
    const nodes = Array.from({ length: size }, (_, id) => {
      const before = id < 20 ? [] : [id - 20, id - 20 + (id % 20 === 19 ? -19 : 1)];
      return step(id, id < size - 20 ? 'deploy' : 'test', ...before);
    });
    // Which of the last ones come after which of the first is looked at, too.
    const found = await checkPlan({ nodes, final_output_node: 0 } as never, { tools, policies });
    expect(found.type === 'invalid' && found.violations.at(-1)).toMatchObject({
      code: 'plan.invalid',
      reason: 'violations.more',
      message: '8620 more problems are not listed.',
    });
    expect(asked.checks).toBeLessThan(2 * 3 * size);
    expect(asked.results).toBeLessThan(2 * 2 * size);
  });
});
