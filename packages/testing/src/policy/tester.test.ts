import {
  allow,
  ask,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type Json,
  type Policy,
  type PreparedCall,
  systemClock,
  toolError,
  upsert,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { afterEach, expect, test, vi } from 'vitest';
import type { PolicyTesterOptions } from './cases.ts';
import { policyTester } from './tester.ts';

afterEach(() => void vi.useRealTimers());

const pathOf = ({ input }: PreparedCall): Json => (isPlainObject(input) ? (input['path'] ?? null) : null);
const keepSecret = (isSecret: (path: Json) => boolean): Policy =>
  definePolicy({
    name: 'keep-secret',
    check: (call) => (isSecret(pathOf(call)) ? deny('`secret` stays.') : allow),
  });
const isSecretInAnySpelling = (path: Json): boolean =>
  /secret/iu.test(
    JSON.stringify(path)
      .normalize('NFKC')
      .replace(/\p{Default_Ignorable_Code_Point}|\s/gu, '')
      .replaceAll('\u0435', 'e')
      .replaceAll('\u0441', 'c'),
  );
/** Of what has no path, nobody said that it is secret. */
const different: PolicyTesterOptions['different'] = ['missing'];
const secretCases: PolicyTesterOptions['cases'] = [
  { call: { tool: 'read', input: { path: 'secret' } }, answer: 'deny', reason: 'stays' },
  { call: { tool: 'read', input: { path: 'open' } }, answer: 'allow' },
];

/** Denies the third call; `used` and `use` keep the count. */
const limit = (make: () => Pick<Policy<number>, 'check' | 'onResult'>): Policy<number> =>
  definePolicy<number>({ name: 'limit', initialState: 0, ...make() });
const allowUnder2 = (used: number): Decision => (used < 2 ? allow : deny('Twice is enough.'));
const call = { tool: 'read' };
const limitCases: PolicyTesterOptions['cases'] = [
  { title: 'the first', call, answer: 'allow' },
  { title: 'the second', after: [call], call, answer: 'allow' },
  { title: 'the third', after: [call, call], call, answer: 'deny', reason: 'Twice' },
  { title: 'after a failure', after: [call, { ...call, outcome: 'failed' }], call, answer: 'allow' },
];
const goodLimit = (): Policy<number> =>
  limit(() => ({
    check: (_call, { state }) => allowUnder2(state),
    onResult: (_call, _result, { state }) => state + 1,
  }));

const writer = defineTool({
  name: call.tool,
  description: 'Writes.',
  inputSchema: jsonSchema({ type: 'object' }),
  execute: () => null,
});

/** Asks after a failure or a call in doubt; without `tightens` only before. */
function closing(tightens: boolean): Policy {
  return definePolicy<true>({
    name: 'closing',
    stateKind: 'keyed',
    countsFailures: true,
    check: (_call, { state }) => (state.size > 0 === tightens ? ask('It may have changed.') : allow),
    reserve: (_call, { callKey }) => upsert(callKey, true),
  });
}

async function findProblems(options: PolicyTesterOptions): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const { name, skipped, run } of policyTester(options)) {
    if (skipped !== undefined) continue;
    await run().catch((error: { readonly code: unknown; readonly message: string }) => {
      expect(error.code).toBe('conformance.failed');
      problems.set(name, error.message);
    });
  }
  return problems;
}

test.each<{ title: string; options: PolicyTesterOptions }>([
  {
    title: 'one without state',
    options: { create: () => keepSecret(isSecretInAnySpelling), cases: secretCases, different },
  },
  { title: 'one that counts', options: { create: goodLimit, cases: limitCases } },
  {
    title: 'one that goes by time',
    options: {
      create: ({ clock }) =>
        definePolicy<number>({
          name: 'cooling-off',
          initialState: 0,
          check: (_call, { state }) => (clock.now() < state ? ask('So soon?') : allow),
          onResult: () => clock.now() + 1_000,
        }),
      cases: [
        { call, answer: 'allow' },
        { after: [call, { waitMs: 999 }], call, answer: 'ask', reason: 'soon' },
        { after: [call, { waitMs: 1_000 }], call, answer: 'allow' },
        { title: 'asked, and approved', after: [call, call, { waitMs: 999 }], call, answer: 'ask' },
        {
          title: 'asked, and refused',
          after: [call, { waitMs: 500 }, { ...call, outcome: 'denied' }, { waitMs: 500 }],
          call,
          answer: 'allow',
        },
      ],
    },
  },
  {
    title: 'one that is stricter after a failure, and says so',
    options: {
      create: () => closing(true),
      tools: [writer],
      cases: [{ call, answer: 'allow' }],
    },
  },
  {
    title: 'one that is tried out',
    options: {
      create: () => definePolicy({ name: 'trial', check: () => ({ type: 'allow', observed: deny('Not in force.') }) }),
      cases: [{ call, answer: 'allow', observed: 'deny', reason: 'Not in force.' }],
    },
  },
  {
    title: 'one that waits for itself',
    options: {
      create: () =>
        definePolicy({
          name: 'patient',
          check: () => new Promise((resolve) => void setTimeout(() => resolve(allow), 1)),
        }),
      cases: [{ call, answer: 'allow' }],
    },
  },
])('$title passes', async ({ options }) => {
  expect([...(await findProblems(options))]).toEqual([]);
});

const repeated = 'checked again, it decides the same';
const handed = 'it does not modify its input';
const restored = 'saved and restored, it decides the same';
const rolledBack = 'rolled back, it decides the same';
const failing = 'failed calls do not change its decisions';
const odd = 'it decides for any arguments';
const timers = 'it leaves no timer';
const written = 'it denies the same call in other spellings: ';

/** Each does one thing wrong, which its cases do not show. */
const bad: readonly { title: string; options: PolicyTesterOptions; caught: readonly string[]; message?: string }[] = [
  {
    title: 'changes the arguments',
    options: {
      create: () =>
        definePolicy({
          name: 'tidy',
          check({ input }) {
            Reflect.set(input as object, 'path', 'elsewhere');
            return allow;
          },
        }),
      cases: [{ call: { tool: 'read', input: { path: 'a' } }, answer: 'allow' }],
    },
    caught: [handed],
    message: 'it changed the arguments of `read`',
  },
  {
    title: 'changes a result',
    options: {
      create: () =>
        definePolicy({
          name: 'tidy',
          check: () => allow,
          onResult: (_call, { value }) => void Reflect.set(value as object, 'rows', []),
        }),
      tools: [
        defineTool({ name: 'read', description: 'Read rows.', effects: 'none', execute: () => ({ rows: ['a'] }) }),
      ],
      cases: [{ call, answer: 'allow' }],
    },
    caught: [handed],
    message: 'it changed the result of `read`',
  },
  {
    title: 'answers as the coin falls',
    options: {
      create() {
        let asked = 0;
        return definePolicy({
          name: 'coin',
          check() {
            asked += 1;
            return asked % 2 === 1 ? allow : ask('Again?');
          },
        });
      },
      cases: [{ call, answer: 'allow' }],
    },
    caught: [repeated, rolledBack, failing],
    message: 'asked once it said allow, asked again ask (Again?)',
  },
  {
    title: 'gives another reason each time',
    options: {
      create() {
        let asked = 0;
        return definePolicy({
          name: 'talker',
          check() {
            asked += 1;
            return deny(`No, for the ${asked}. time.`);
          },
        });
      },
      cases: [{ call, answer: 'deny' }],
    },
    caught: [repeated, rolledBack, failing],
  },
  {
    title: 'knows what is in no state',
    options: {
      create() {
        let used = 0;
        return limit(() => ({ check: () => allowUnder2(used), onResult: () => (used += 1) }));
      },
      cases: limitCases,
    },
    caught: [restored, rolledBack],
    message: 'In `the third`, expected deny (Twice is enough.), got allow.',
  },
  {
    title: 'wants to have seen itself what its state says',
    options: {
      create() {
        const seen = new Set<number>();
        return limit(() => ({
          check: (_call, { state }) => (seen.has(state - 1) ? allowUnder2(state) : allow),
          onResult(_call, _result, { state }) {
            seen.add(state);
            return state + 1;
          },
        }));
      },
      cases: limitCases,
    },
    caught: [restored],
  },
  {
    title: 'remembers the most that its state ever was',
    options: {
      create() {
        let most = 0;
        return limit(() => ({
          check(_call, { state }) {
            most = Math.max(most, state);
            return allowUnder2(most);
          },
          onResult: (_call, _result, { state }) => state + 1,
        }));
      },
      cases: limitCases,
    },
    caught: [rolledBack],
    message: 'In `the first`, expected allow, got deny (Twice is enough.).',
  },
  {
    title: 'counts what it allows, done or not',
    options: {
      create() {
        const begun = new Set<string>();
        return limit(() => ({
          check({ id }) {
            begun.add(id);
            return begun.size > 3 ? deny('Three times is enough.') : allow;
          },
          onResult(_call, _result, { state }) {
            begun.clear();
            return state + 1;
          },
        }));
      },
      cases: [
        { call, answer: 'allow' },
        { call: { tool: 'write' }, answer: 'allow' },
        { call: { tool: 'list' }, answer: 'allow' },
      ],
    },
    caught: [failing],
  },
  {
    title: 'allows more after a failure',
    options: {
      create: () => closing(false),
      tools: [writer],
      cases: [{ call, answer: 'ask' }],
    },
    caught: [failing],
  },
  {
    title: 'compares letters as they are',
    options: {
      create: () => keepSecret((path) => isSecretInAnySpelling(path) && !/[A-Z]/.test(JSON.stringify(path))),
      cases: secretCases,
      different,
    },
    caught: [`${written}case`],
    message: '`read {"path":"SECRET"}`, `read {"path":"Secret"}`. If these mean something else, name `case`',
  },
  {
    title: 'compares paths as they are written',
    options: {
      create: () => keepSecret((path) => isSecretInAnySpelling(path) && !/[./]/.test(JSON.stringify(path))),
      cases: secretCases,
      different,
    },
    caught: [`${written}path`],
    message: '`read {"path":"./secret"}`',
  },
  {
    title: 'compares characters as they are coded',
    options: {
      create: () => keepSecret((path) => isSecretInAnySpelling(path) && /^[\p{ASCII}\s]*$/u.test(JSON.stringify(path))),
      cases: secretCases,
      different: ['space', 'missing'],
    },
    caught: [`${written}unicode`],
  },
  {
    title: 'minds spaces',
    options: {
      create: () => keepSecret((path) => isSecretInAnySpelling(path) && !/\s|\\[nt]/.test(JSON.stringify(path))),
      cases: secretCases,
      different,
    },
    caught: [`${written}space`],
  },
  {
    title: 'looks at nothing but texts',
    options: {
      create: () => keepSecret((path) => typeof path === 'string' && isSecretInAnySpelling(path)),
      cases: secretCases,
      different,
    },
    caught: [`${written}wrapped`],
    message: '`read {"path":["secret"]}`',
  },
  {
    title: 'takes a number for a number',
    options: {
      create: () =>
        definePolicy({
          name: 'small',
          check: ({ input }) => (isPlainObject(input) && input['euros'] === 5 ? ask('Five?') : allow),
        }),
      cases: [{ call: { tool: 'pay', input: { euros: 5 } }, answer: 'ask' }],
      different,
    },
    caught: [`${written}wrapped`],
    message: '`pay {"euros":[5]}`, `pay {"euros":"5"}`',
  },
  {
    title: 'compares a number that may be missing',
    options: {
      create: () =>
        definePolicy({
          name: 'not-too-much',
          check: ({ input }) => (Number(Reflect.get(Object(input), 'euros')) > 100 ? ask('So much?') : allow),
        }),
      cases: [{ call: { tool: 'pay', input: { euros: 101, to: 'ada' } }, answer: 'ask' }],
    },
    caught: [`${written}missing`],
    message: '`pay {"to":"ada"}`, `pay {"to":"ada","EUROS":101}`',
  },
  {
    title: 'throws at arguments that it does not expect',
    options: {
      create: () => keepSecret((path) => isSecretInAnySpelling(path) || (path as string).trim() === ''),
      cases: [{ call: { tool: 'read', input: { path: 'open' } }, answer: 'allow' }],
    },
    caught: [odd],
    message: 'Expected an answer to `read {}`, but it threw: ',
  },
  {
    title: 'forgets to answer some arguments',
    options: {
      // The cast stands for a policy that is written without types.
      create: () =>
        definePolicy({ name: 'vague', check: (asked) => (pathOf(asked) === '' ? undefined : allow) as Decision }),
      cases: [{ call: { tool: 'read', input: { path: 'open' } }, answer: 'allow' }],
    },
    caught: [odd],
    message: 'it answered neither `allow`, `ask` nor `deny`',
  },
  {
    title: 'refuses without a word',
    options: {
      create: () => definePolicy({ name: 'curt', check: (asked) => (pathOf(asked) === '' ? deny(' ') : allow) }),
      cases: [{ call: { tool: 'read', input: { path: 'open' } }, answer: 'allow' }],
    },
    caught: [odd],
    message: 'its deny gives no reason',
  },
  {
    title: 'leaves a timer',
    options: {
      create: () =>
        definePolicy({
          name: 'race',
          check: () =>
            Promise.race([
              Promise.resolve(allow),
              new Promise<Decision>((done) => void setTimeout(() => done(deny('Late.')), 60_000)),
            ]),
        }),
      cases: [{ call, answer: 'allow' }],
    },
    caught: [timers],
    message: 'it left 1 timer behind',
  },
  {
    title: 'leaves an interval, from when it was made',
    options: {
      create() {
        setInterval(() => undefined, 60_000);
        return definePolicy({ name: 'busy', check: () => allow });
      },
      cases: [{ call, answer: 'allow' }],
    },
    caught: [timers],
  },
  {
    title: 'leaves a timer of the clock',
    options: {
      create({ clock }) {
        clock.after(60_000, () => undefined);
        return definePolicy({ name: 'busy', check: () => allow });
      },
      cases: [{ call, answer: 'allow' }],
    },
    caught: [timers],
  },
];

test.each(bad)('one that $title is caught', async ({ options, caught, message = '' }) => {
  const problems = await findProblems(options);
  expect([...problems.keys()]).toEqual(caught);
  expect([...problems.values()].join('\n')).toContain(message);
});

test('every check catches a faulty policy that passes its cases', () => {
  const all = policyTester({ create: goodLimit, cases: [{ call, answer: 'allow' }] }).slice(1);
  const first = new Set(bad.flatMap(({ caught }) => caught.slice(0, 1)));
  // One that knows what is in no state is caught by two, each of which catches another alone.
  expect(all.map(({ name }) => name).filter((name) => !first.has(name))).toEqual([]);
});

test.each<{ title: string; wrong: PolicyTesterOptions['cases'][number]; message: string }>([
  { title: 'another answer', wrong: { call, answer: 'deny' }, message: 'Expected deny for `read {}`, got allow.' },
  {
    title: 'an ask',
    wrong: { after: [call, call], call, answer: 'ask' },
    message: 'Expected ask for `read {}`, got deny (Twice is enough.).',
  },
  {
    title: 'another reason',
    wrong: { after: [call, call], call, answer: 'deny', reason: 'Thrice' },
    message: 'to contain `Thrice`, got deny (Twice is enough.).',
  },
  {
    title: 'a note',
    wrong: { call, answer: 'allow', observed: 'deny' },
    message: 'Expected allow, observed deny for `read {}`, got allow.',
  },
  {
    title: 'another outcome before',
    wrong: { after: [call, call, call], call, answer: 'deny' },
    message: 'Before the case, `read {}` should have ended as `ok`, and ended as `denied`: Denied: Twice is enough.',
  },
])('a case that expects $title fails', async ({ wrong, message }) => {
  const [check] = policyTester({ create: goodLimit, cases: [wrong] });
  await expect(check?.run()).rejects.toMatchObject({
    code: 'conformance.failed',
    message: expect.stringContaining(message),
  });
});

test('a policy that is never asked, or never answers, passes no case', async () => {
  const closed = defineTool({
    name: 'read',
    description: 'Read a path.',
    inputSchema: jsonSchema({ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }),
    effects: 'none',
    execute: () => toolError('unused'),
  });
  const [unasked] = policyTester({
    create: goodLimit,
    tools: [closed],
    cases: [{ after: [{ ...call, input: { path: 'a' }, outcome: 'failed' }], call, answer: 'allow' }],
  });
  await expect(unasked?.run()).rejects.toThrow('no answer (the call ended as `invalid`');
  const create = (): Policy => definePolicy({ name: 'mute', check: () => new Promise<Decision>(() => undefined) });
  const [mute] = policyTester({ create, cases: [{ call, answer: 'deny' }] });
  vi.useFakeTimers();
  const running = mute?.run().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await running).toMatchObject({
    message:
      'Expected deny for `read {}`, got no answer (the call ended as `denied`: Denied: The policy did not answer within 3000 ms.).',
  });
});

test('cases name their checks, and what is different is skipped', async () => {
  const checks = policyTester({
    create: () => keepSecret((path) => path === 'secret'),
    cases: [{ title: 'the secret', call: { tool: 'read', input: { path: 'secret' } }, answer: 'deny' }, ...secretCases],
    different: ['case', 'path', 'unicode', 'space', 'wrapped', 'missing'],
  });
  expect(checks.slice(0, 3).map(({ name }) => name)).toEqual([
    '1. the secret',
    '2. `read {"path":"secret"}`: deny',
    '3. `read {"path":"open"}`: allow',
  ]);
  const skipped = checks.filter((check) => check.skipped !== undefined);
  expect(skipped.map((check) => check.skipped)).toEqual(
    ['case', 'path', 'unicode', 'space', 'wrapped', 'missing'].map((kind) => `\`${kind}\` is declared as different`),
  );
  for (const { run } of skipped) await expect(run()).rejects.toMatchObject({ code: 'conformance.skipped' });
  const inCase = policyTester({
    create: () => keepSecret((path) => path === 'secret'),
    cases: [{ call: { tool: 'read', input: { path: 'secret' } }, answer: 'deny', different: ['wrapped'] }],
  });
  await expect(inCase.find(({ name }) => name.endsWith('wrapped'))?.run()).resolves.toBeUndefined();
  await expect(inCase.find(({ name }) => name.endsWith('case'))?.run()).rejects.toThrow('got through');
});

test.each([
  { cases: [] },
  { cases: undefined as unknown as [] },
  { cases: [{ call, answer: 'allow' as const }], tools: [] },
  { cases: [{ after: [{ tool: 'list' }], call: { tool: 'read' }, answer: 'allow' as const }], tools: [] },
])('options.invalid: %j', (options) => {
  expect(() => policyTester({ create: goodLimit, ...options })).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});

test('options.invalid: what makes no policy', async () => {
  for (const made of [undefined, {}, Promise.resolve(goodLimit())]) {
    // The cast stands for an author who writes without types.
    const [check] = policyTester({ create: () => made as unknown as Policy, cases: [{ call, answer: 'allow' }] });
    await expect(check?.run()).rejects.toMatchObject({ code: 'options.invalid' });
  }
});

test('the timers of everybody else are left alone', async () => {
  const { setTimeout: before } = globalThis;
  let fired = false;
  const stop = systemClock.after(60_000, () => {
    fired = true;
  });
  expect([...(await findProblems({ create: goodLimit, cases: limitCases }))]).toEqual([]);
  stop();
  expect({ fired, same: globalThis.setTimeout === before }).toEqual({ fired: false, same: true });
});
