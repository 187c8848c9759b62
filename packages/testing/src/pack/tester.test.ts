import { allow, ask, definePack, definePolicy, deny, type Pack, type Policy } from '@holdfast/core';
import { callBudget, requireApproval } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { afterEach, expect, test, vi } from 'vitest';
import type { PackCases } from './cases.ts';
import { measurePack } from './rules.ts';
import { type PackTesterOptions, packTester } from './tester.ts';

afterEach(() => void vi.useRealTimers());

interface Options {
  readonly maxCalls?: number;
  readonly ask?: readonly string[];
}

const configSchema = jsonSchema<Options>({
  type: 'object',
  properties: {
    maxCalls: { type: 'integer', minimum: 1 },
    ask: { type: 'array', items: { type: 'string' } },
  },
});
const presets = {
  recommended: { description: 'Three calls.', config: { maxCalls: 3, ask: ['deploy'] } },
  strict: { description: 'One call.', config: { maxCalls: 1, ask: ['deploy', 'tag'] } },
};
const makePolicies = ({ maxCalls = 5, ask: asked = [] }: Options): readonly Policy[] => [
  callBudget({ maxCalls }),
  definePolicy({
    name: 'ask-first',
    check: ({ tool }) => (asked.includes(tool.name) ? ask(`\`${tool.name}\` needs a yes.`) : allow),
  }),
];

interface Parts {
  readonly policies?: (config: Options) => readonly Policy[];
  readonly configSchema?: Pack<Options>['configSchema'];
  readonly presets?: Parameters<typeof definePack<Options>>[0]['presets'];
  readonly version?: string;
}

const careful = (parts: Parts = {}): Pack =>
  definePack<Options>({
    name: 'careful',
    version: '1.2.3',
    description: 'Not too much, and not unasked.',
    policies: makePolicies,
    presets,
    ...parts,
    configSchema: parts.configSchema ?? configSchema,
  });

const read = { tool: 'read', input: { path: 'a.txt' } };
const deploy = { tool: 'deploy' };
const strictCases: PackCases['presets'][string] = {
  cases: [
    { call: read, answer: 'allow' },
    { call: { tool: 'tag' }, answer: 'ask' },
    { title: 'used up', after: [read], call: read, answer: 'deny', reason: 'calls' },
  ],
};
const cases: PackCases = {
  presets: {
    recommended: {
      cases: [
        { title: 'reading', call: read, answer: 'allow' },
        { title: 'asked first', call: deploy, answer: 'ask', reason: 'needs a yes' },
        { title: 'used up', after: [read, read, read], call: read, answer: 'deny', reason: 'calls' },
      ],
    },
    strict: strictCases,
  },
  configs: [{ title: 'nobody is asked', config: { ask: [] }, cases: [{ call: deploy, answer: 'allow' }] }],
};

async function findProblems(
  pack: Pack,
  { with: tried = cases, ...options }: PackTesterOptions & { readonly with?: PackCases } = {},
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const { name, skipped, run } of packTester(pack, tried, options)) {
    if (skipped !== undefined) continue;
    await run().catch((error: { readonly message: string }) => void problems.set(name, error.message));
  }
  return problems;
}

const manifest = { version: '1.2.3', holdfast: 'pack', peerDependencies: { '@holdfast/core': '^1.0.0' } };
const metadata = 'its metadata is valid';
const installed = 'its package has no install scripts, and versioned dependencies';
const twice = 'no case is a duplicate';
const same = 'every preset creates policies with stable ids';
const covered = 'every preset that is in force has cases';
const unknown = 'an unknown option is rejected';
const fired = 'every policy allows something and denies something';
const triedOut = 'a dry-run preset allows everything';
const anyOptions = 'any options are rejected, or create policies that decide';
const missing = 'it denies the same call in other spellings: missing';
const altered = 'it decides for altered arguments of its cases';
const apart = 'sessions are independent';

test('a good pack passes, and each check is named by its preset', async () => {
  expect([...(await findProblems(careful(), { manifest }))]).toEqual([]);
  const names = packTester(careful(), cases).map(({ name }) => name);
  expect(names.slice(0, 10)).toEqual([
    metadata,
    installed,
    same,
    covered,
    twice,
    unknown,
    fired,
    triedOut,
    anyOptions,
    'recommended: 1. reading',
  ]);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain('strict: it leaves no timer');
  expect(names).toContain(`nobody is asked: ${apart}`);
});

const guard = (check: Policy['check'], more: Partial<Pick<Policy, 'name'>> = {}): Policy =>
  definePolicy({ name: 'guard', check, ...more });
let calls = 0;

interface Bad {
  readonly title: string;
  readonly pack: () => Pack;
  readonly options?: PackTesterOptions & { readonly with?: PackCases };
  /** One that the fault has to be found by, the first of those that find it. */
  readonly caught: string;
  readonly message: string;
}

const bad: readonly Bad[] = [
  {
    title: 'says another version than its package',
    pack: () => careful({ version: '1.2.2' }),
    options: { manifest },
    caught: metadata,
    message: 'The pack `careful` says that it is 1.2.2, and its package.json says 1.2.3.',
  },
  {
    title: 'is not to be found as a pack',
    pack: () => careful(),
    options: { manifest: { ...manifest, holdfast: 'plugin' } },
    caught: metadata,
    message: '`"holdfast": "pack"`',
  },
  {
    title: 'brings no core',
    pack: () => careful(),
    options: { manifest: { ...manifest, peerDependencies: { constructor: '1' } } },
    caught: metadata,
    message: '`@holdfast/core` among the `peerDependencies`',
  },
  {
    title: 'runs a script when it is installed',
    pack: () => careful(),
    options: { manifest: { ...manifest, scripts: { test: 'vitest', postinstall: 'node setup.js' } } },
    caught: installed,
    message: 'the script `postinstall`, which runs before',
  },
  ...['git+ssh://git@host/a.git', 'https://host/a.tgz', 'file:../a', 'someone/a'].map((from) => ({
    title: `needs what comes from ${from}`,
    pack: () => careful(),
    options: { manifest: { ...manifest, dependencies: { ok: '^1.0.0', other: 'npm:a@1', 'a-b': from } } },
    caught: installed,
    message: 'by version which `a-b` it needs',
  })),
  {
    title: 'has a case twice',
    pack: () => careful(),
    options: {
      with: {
        ...cases,
        presets: {
          ...cases.presets,
          strict: { cases: [...strictCases.cases, { title: 'again', call: { tool: 'tag' }, answer: 'ask' }] },
        },
      },
    },
    caught: twice,
    message: '`strict` has `tag {}` twice',
  },
  {
    title: 'lets a number through that is not there',
    pack: () =>
      careful({
        policies: (config) => [
          ...makePolicies(config),
          guard(({ tool, input }) =>
            tool.name === 'pay' && Number(Reflect.get(Object(input), 'euros')) > 100 ? deny('Too much.') : allow,
          ),
        ],
      }),
    options: {
      with: {
        ...cases,
        presets: {
          ...cases.presets,
          strict: { cases: [...strictCases.cases, { call: { tool: 'pay', input: { euros: 101 } }, answer: 'deny' }] },
        },
      },
    },
    caught: `strict: ${missing}`,
    message: 'got through as `pay {}`, `pay {"EUROS":101}`',
  },
  {
    title: 'was written by hand',
    pack: () => ({ ...careful(), description: 'Two\nlines.' }),
    caught: metadata,
    message: 'needs a `description`',
  },
  {
    title: 'was written by hand, without a preset',
    pack: () => {
      const { recommended, observe } = careful().presets;
      return { ...careful(), presets: recommended && observe ? { recommended, observe } : {} };
    },
    options: { with: { presets: { recommended: strictCases } } },
    caught: metadata,
    message: 'Expected the presets `recommended` and `strict`.',
  },
  {
    title: 'has a preset that its schema does not take',
    pack: () => careful({ presets: { ...presets, strict: { description: 'None.', config: { maxCalls: 0 } } } }),
    caught: same,
    message: '`strict` makes no policies: Invalid options of the pack `careful`',
  },
  {
    title: 'has a preset that guards nothing',
    pack: () => careful({ policies: (config) => (config.maxCalls === 1 ? [] : makePolicies(config)) }),
    caught: same,
    message: '`strict` makes no policy: it guards nothing.',
  },
  {
    title: 'makes up ids',
    pack: () =>
      careful({
        policies: (config) => {
          calls += 1;
          return [...makePolicies(config), guard(() => allow, { name: `guard-${calls}` })];
        },
      }),
    caught: same,
    message: 'their ids have to follow from the options',
  },
  {
    title: 'has a preset without cases',
    pack: () => careful({ presets: { ...presets, night: { description: 'At night.', config: { maxCalls: 2 } } } }),
    caught: covered,
    message: 'Expected cases of `night`.',
  },
  {
    title: 'takes any option',
    pack: () => careful({ configSchema: jsonSchema<Options>({ type: 'object', additionalProperties: true }) }),
    caught: unknown,
    message: 'It was accepted.',
  },
  {
    title: 'has a rule that never fires',
    pack: () => careful({ policies: (config) => [...makePolicies(config), guard(() => allow)] }),
    caught: fired,
    message: '`guard` never refused anything: add cases',
  },
  {
    title: 'has a rule that lets nothing through',
    pack: () => careful({ policies: (config) => [...makePolicies(config), guard(() => deny('Never.'))] }),
    caught: fired,
    message: '`guard` never let through anything',
  },
  {
    title: 'throws for some options',
    pack: () =>
      careful({
        policies: ({ ask: asked = [], ...config }) => {
          for (const name of asked) if (name.includes('*')) throw new TypeError(`Cannot read \`${name}\`.`);
          return makePolicies({ ...config, ask: asked });
        },
      }),
    caught: anyOptions,
    message: 'or to be refused as `pack.invalid: config`. It threw: Cannot read `',
  },
  {
    title: 'throws an error of Holdfast for some options',
    pack: () =>
      careful({
        policies: ({ ask: asked = [], ...config }) => [...makePolicies(config), requireApproval({ tools: asked })],
      }),
    caught: anyOptions,
    message: 'It threw `',
  },
  {
    title: 'makes policies that throw for some options',
    pack: () =>
      careful({
        policies: (config) => [
          ...makePolicies(config),
          guard(() => {
            if ((config.ask ?? []).some((name) => /\W/.test(name))) throw new Error('An odd name.');
            return allow;
          }),
        ],
      }),
    caught: anyOptions,
    message: 'expected an answer to `',
  },
  {
    title: 'knows in one session what happened in another',
    pack() {
      // As a variable of its module would be.
      const seen = new Set<string>();
      return careful({
        policies: (config) => [
          ...makePolicies(config),
          definePolicy({
            name: 'guard',
            check: ({ tool }) => (tool.name === 'tag' && seen.has('deploy') ? deny('Deployed already.') : allow),
            onResult: ({ tool }) => void seen.add(tool.name),
          }),
        ],
      });
    },
    options: {
      with: {
        presets: {
          recommended: {
            cases: [
              { call: { tool: 'tag' }, answer: 'allow' },
              { call: deploy, answer: 'ask' },
            ],
          },
          strict: strictCases,
        },
      },
    },
    caught: `recommended: ${apart}`,
    message: 'expected allow, as before calls of another session, got deny (Deployed already.)',
  },
  {
    title: 'throws at arguments that its cases nearly have',
    pack: () =>
      careful({
        policies: (config) => [
          ...makePolicies(config),
          guard(({ input }) => {
            const lines: unknown = Object(Object(input).edit).lines;
            // Checks only existing arguments, and only numbers.
            if (lines !== undefined && lines !== null) (lines as number).toFixed();
            return allow;
          }),
        ],
      }),
    options: {
      with: {
        presets: {
          recommended: { cases: [{ call: { tool: 'edit', input: { edit: { lines: 3 } } }, answer: 'allow' }] },
          strict: strictCases,
        },
      },
    },
    caught: `recommended: ${altered}`,
    message: 'but it threw: ',
  },
  {
    title: 'throws at odd arguments',
    pack: () =>
      careful({
        policies: (config) => [
          ...makePolicies(config),
          guard(({ input }) => (Object(input).path.length > 99 ? deny('Long.') : allow)),
        ],
      }),
    caught: 'recommended: it decides for any arguments',
    message: 'but it threw: ',
  },
  {
    title: 'leaves a timer behind',
    pack: () =>
      careful({
        policies: (config) => {
          setTimeout(() => undefined, 60_000);
          return makePolicies(config);
        },
      }),
    caught: 'strict: it leaves no timer',
    message: 'it left 1 timer behind',
  },
];

test.each(bad)(
  'a pack that $title is caught',
  async ({ pack, options: { with: tried = cases, ...options } = {}, caught, message }) => {
    // This check alone: what a pack keeps outside of sessions, checks before it would have changed.
    const check = packTester(pack(), tried, options).find(({ name }) => name === caught);
    const error: unknown = await check?.run().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'conformance.failed', message: expect.stringContaining(message) });
  },
);

test('what a rule costs is told', async () => {
  let time = 0;
  const rules = await measurePack(careful(), cases, { now: () => (time += 0.02) });
  expect(rules).toEqual([
    { policy: 'call-budget', allowed: 9, asked: 0, denied: 2, microseconds: 1 },
    { policy: 'ask-first', allowed: 9, asked: 2, denied: 0, microseconds: 1 },
  ]);
});

test('a rule that takes its time is not asked a thousand times', async () => {
  let asked = 0;
  const slow = careful({
    policies: (config) => [
      ...makePolicies(config),
      guard(() => {
        asked += 1;
        return allow;
      }),
    ],
  });
  let time = 0;
  const rules = await measurePack(slow, cases, { now: () => (time += 100) });
  const { allowed } = rules.find(({ policy }) => policy === 'guard') ?? { allowed: 0 };
  expect(asked).toBe(allowed * (1 + 20));
});

test('every check of a pack catches a faulty pack', () => {
  const caught = new Set(bad.map((each) => each.caught));
  const own = packTester(careful(), cases).filter(
    ({ name }) => !name.includes(': ') || name.endsWith(apart) || name.endsWith(altered),
  );
  const missing = own
    .map(({ name }) => name)
    .filter((name) => ![...caught].some((known) => name.endsWith(known.replace(/^\w+: /, ''))));
  // Policies that do not answer are its subject, below.
  expect(missing).toEqual([triedOut]);
});

test('a preset that is tried out and does not answer holds up its calls, and is caught', async () => {
  const mute = careful({
    policies: (config) =>
      makePolicies(config).map((policy) => ({ ...policy, check: () => new Promise<never>(() => undefined) })),
  });
  const check = packTester(mute, cases).find(({ name }) => name === triedOut);
  vi.useFakeTimers();
  const running = check?.run().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await running).toMatchObject({
    code: 'conformance.failed',
    message: expect.stringContaining(
      'Under `observe`, expected `read {"path":"a.txt"}` to be let through, got no answer',
    ),
  });
});

test.each<{ title: string; make: () => unknown; says: string }>([
  { title: 'no pack', make: () => packTester({} as Pack, cases), says: 'create it with `definePack`' },
  { title: 'no cases', make: () => packTester(careful(), undefined as unknown as PackCases), says: 'need `presets`' },
  {
    title: 'a preset without cases',
    make: () => packTester(careful(), { presets: { strict: { cases: [] } } }),
    says: 'at least one case',
  },
  {
    title: 'another preset',
    make: () => packTester(careful(), { presets: { constructor: strictCases } }),
    says: 'Presets: `recommended`, `strict`, `observe`',
  },
  {
    title: 'options of another preset',
    make: () =>
      packTester(careful(), {
        ...cases,
        configs: [{ title: 'x', preset: 'night', config: {}, cases: strictCases.cases }],
      }),
    says: 'The cases `x` have the unknown preset `night`',
  },
  { title: 'no runs', make: () => packTester(careful(), cases, { runs: 0 }), says: '`runs`' },
])('options.invalid: $title', ({ make, says }) => {
  expect(make).toThrow(expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(says) }));
});
