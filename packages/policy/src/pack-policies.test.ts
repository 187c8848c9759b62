import { definePack, type JsonObject, type Policy } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { callOf, runPolicy } from './fixtures.ts';
import { type PackOptions, packPolicies } from './pack-policies.ts';
import { requireApproval } from './require-approval.ts';

interface Options {
  readonly maxPushes?: number;
  readonly ask?: readonly string[];
}

const schema = {
  type: 'object',
  properties: {
    maxPushes: { type: 'integer', minimum: 1 },
    ask: { type: 'array', items: { type: 'string' } },
  },
} satisfies JsonObject;
const gitSafety = definePack({
  name: 'git-safety',
  version: '1.2.3',
  description: 'Protects the history.',
  configSchema: jsonSchema<Options>(schema),
  presets: {
    recommended: { description: 'Ten pushes.', config: { maxPushes: 10, ask: ['push'] } },
    strict: { description: 'One push.', config: { maxPushes: 1, ask: ['push', 'tag'] } },
  },
  policies: ({ maxPushes = 5, ask = [] }) => [
    callBudget({ maxCalls: maxPushes }),
    ...(ask.length > 0 ? [requireApproval({ tools: ask })] : []),
  ],
});

test.each<{ title: string; options: PackOptions; tag: string; afterOne: string; observed?: string }>([
  { title: 'nothing said', options: {}, tag: 'allow', afterOne: 'allow' },
  { title: 'a preset', options: { preset: 'strict' }, tag: 'ask', afterOne: 'deny' },
  { title: 'own options', options: { config: { maxPushes: 1 } }, tag: 'allow', afterOne: 'deny' },
  {
    title: 'a preset and own options',
    options: { preset: 'strict', config: { maxPushes: 2 } },
    tag: 'ask',
    afterOne: 'allow',
  },
  {
    title: 'a list of its own',
    options: { preset: 'strict', config: { ask: ['push'] } },
    tag: 'allow',
    afterOne: 'deny',
  },
  {
    title: 'the preset `observe`',
    options: { preset: 'observe', config: { maxPushes: 1 } },
    tag: 'allow',
    afterOne: 'allow',
    observed: 'deny',
  },
  {
    title: 'a preset tried out',
    options: { preset: 'strict', observe: true },
    tag: 'allow',
    afterOne: 'allow',
    observed: 'deny',
  },
  {
    title: 'the preset `observe` put in force',
    options: { preset: 'observe', config: { maxPushes: 1 }, observe: false },
    tag: 'allow',
    afterOne: 'deny',
  },
])('$title: tag $tag, after one push $afterOne', async ({ options, tag, afterOne, observed }) => {
  const [budget, approval] = packPolicies(gitSafety, options);
  expect(budget).toMatchObject({ id: 'git-safety-call-budget', name: 'call-budget' });
  expect(approval).toMatchObject({ id: 'git-safety-require-approval', mentions: expect.arrayContaining(['push']) });
  if (budget === undefined || approval === undefined) return;
  expect(await runPolicy(approval).check(callOf('tag'))).toMatchObject({ type: tag });
  const run = runPolicy(budget);
  run.succeed(callOf('push'));
  expect(run.state()).toBe(1);
  const answer = await run.check(callOf('push'));
  expect(answer.type).toBe(afterOne);
  expect(answer.type === 'allow' ? answer.observed?.type : undefined).toBe(observed);
});

test('options come from the schema, with its defaults', () => {
  expect(packPolicies(gitSafety, { config: { ask: [] } })).toHaveLength(1);
  // Not the preset's options object.
  expect(gitSafety.presets['recommended']?.config).toEqual({ maxPushes: 10, ask: ['push'] });
});

test("`id` replaces the prefix of the policies' ids", () => {
  const policies = packPolicies(gitSafety, { id: 'work-repository', preset: 'strict' });
  expect(policies.map(({ id }) => id)).toEqual(['work-repository-call-budget', 'work-repository-require-approval']);
});

// The casts stand for an untyped host.
test.each(['', 'host/git', 'policy:git', 'Git', '-git', 'x'.repeat(33), ['git'] as never, null as never])(
  'options.invalid: the id %j',
  (id) => {
    expect(() => packPolicies(gitSafety, { id })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  },
);

// E21 of the hostile policy cases.
test("no preset of a pack removes a host's policy", async () => {
  const mandatory = requireApproval({ tools: ['push'] });
  for (const preset of Object.keys(gitSafety.presets)) {
    const inForce = [mandatory, ...packPolicies(gitSafety, { preset, observe: true })];
    const answers = await Promise.all(inForce.map((policy) => runPolicy(policy).check(callOf('push'))));
    expect(answers[0]?.type).toBe('ask');
  }
  expect(() => packPolicies(gitSafety, { preset: 'off' })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'preset.unknown' }),
  );
});

test.each(['constructor', '__proto__', 'Strict', '', 'x'.repeat(1000)])(
  'pack.invalid: preset.unknown: `%s`',
  (preset) => {
    expect(() => packPolicies(gitSafety, { preset })).toThrow(
      expect.objectContaining({
        code: 'pack.invalid',
        reason: 'preset.unknown',
        message: expect.stringContaining('Presets: `recommended`, `strict`, `observe`.'),
      }),
    );
  },
);

// The casts stand for an untyped host.
test.each([{ maxPushes: 0 }, { maxPushes: '1' }, { ask: 'push' }, { pushes: 1 }, 'strict' as unknown as JsonObject])(
  'pack.invalid: config: %j',
  (config) => {
    expect(() => packPolicies(gitSafety, { config })).toThrow(
      expect.objectContaining({
        code: 'pack.invalid',
        reason: 'config',
        message: expect.stringContaining('`git-safety`'),
      }),
    );
  },
);

test.each<{ makes: unknown; says: string }>([
  { makes: undefined, says: 'does not return a list' },
  { makes: callBudget({ maxCalls: 1 }), says: 'does not return a list' },
  { makes: [undefined], says: 'returns an invalid policy' },
  { makes: [{ id: 'guard' }], says: 'returns an invalid policy' },
  // E19 of the hostile policy cases: its state would have the key of something else.
  ...['host/guard', 'policy:guard', '', 'Guard', 'x'.repeat(65)].map((id) => ({
    makes: [{ ...callBudget({ maxCalls: 1 }), id }],
    says: 'returns an invalid policy',
  })),
  { makes: [{ ...callBudget({ maxCalls: 1 }), mentions: undefined }], says: 'returns an invalid policy' },
  { makes: [{ ...callBudget({ maxCalls: 1 }), mentions: [1] }], says: 'returns an invalid policy' },
  { makes: [{ ...callBudget({ maxCalls: 1 }), onResult: {} }], says: 'returns an invalid policy' },
  { makes: [{ ...callBudget({ maxCalls: 1 }), reserve: 1 }], says: 'returns an invalid policy' },
  { makes: [{ ...callBudget({ maxCalls: 1 }), name: 7 }], says: 'returns an invalid policy' },
  { makes: [callBudget({ maxCalls: 1 }), callBudget({ maxCalls: 2 })], says: 'two policies with the id `call-budget`' },
  { makes: ['a', 'b'].map((end) => callBudget({ maxCalls: 1, id: `${'x'.repeat(63)}${end}` })), says: 'two policies' },
])('pack.invalid: a pack that $says', ({ makes, says }) => {
  const { presets, ...rest } = gitSafety;
  const { recommended, strict } = presets;
  if (recommended === undefined || strict === undefined) throw new Error('definePack demands both');
  // The cast stands for an untyped author.
  const pack = definePack({ ...rest, presets: { recommended, strict }, policies: () => makes as readonly Policy[] });
  expect(() => packPolicies(pack)).toThrow(
    expect.objectContaining({ code: 'pack.invalid', message: expect.stringContaining(says) }),
  );
});
