import { type Decision, isHoldfastError, type Json, type Policy } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { callOf, folder, runPolicy } from './fixtures.ts';
import { observe } from './observe.ts';
import { pathScope } from './path-scope.ts';
import { rateLimit } from './rate-limit.ts';
import { readBeforeWrite } from './read-before-write.ts';
import { requireApproval } from './require-approval.ts';
import { requireArguments } from './require-arguments.ts';
import { sequentialDependency } from './sequential-dependency.ts';
import { allowTools, denyTools } from './tool-lists.ts';
import { unless } from './unless.ts';

// Values that untyped code or a file might pass as options.
const word = fc.constantFrom(
  'read',
  'write_file',
  'path',
  'src',
  '../x',
  '__proto__',
  'constructor',
  '',
  'A',
  ' ',
  '*',
  '\u0000',
  '\ud800',
);
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      undefined,
      null,
      true,
      false,
      0,
      1,
      2,
      -1,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      Symbol('s'),
    ),
    word,
    fc.constant(() => true),
    fc.constant(async () => true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('value'), { maxKeys: 3 }),
  ),
}));
// Half of the values are plausible; otherwise hardly any policy would be created.
const sometimes = (good: unknown) => fc.oneof(fc.constant(good), anything);
const tools = sometimes(['read']);
const options = fc.record(
  {
    maxCalls: sometimes(1),
    perMs: sometimes(1_000),
    tools,
    when: sometimes(() => true),
    reason: sometimes('Not now.'),
    id: sometimes('own'),
    read: sometimes(['src']),
    write: sometimes([]),
    readers: sometimes({ read: 'path' }),
    writers: sometimes({ write_file: 'path' }),
  },
  { requiredKeys: ['maxCalls', 'perMs', 'tools', 'when'] },
);
const firsts = fc.oneof(
  fc.constantFrom<unknown>('read', { read: ['write_file'] }, () => true),
  tools,
);

// The casts stand for untyped code.
const makers: Readonly<Record<string, (first: unknown, rest: object) => Policy>> = {
  allowTools: (first, rest) => allowTools(first as string[], only(rest, 'reason')),
  callBudget: (_first, rest) => callBudget(only(rest, 'maxCalls') as { maxCalls: number }),
  denyTools: (first, rest) => denyTools(first as string[], only(rest, 'reason')),
  pathScope: (_first, rest) => pathScope(only(rest, 'read', 'write', 'readers', 'writers')),
  rateLimit: (_first, rest) =>
    rateLimit(only(rest, 'maxCalls', 'perMs', 'tools') as { maxCalls: number; perMs: number }),
  readBeforeWrite: (_first, rest) => readBeforeWrite(only(rest, 'writers')),
  requireApproval: (_first, rest) => requireApproval(only(rest, 'tools', 'when', 'reason') as { tools: string[] }),
  requireArguments: (first, rest) =>
    requireArguments(first as string, (rest as { when: () => boolean }).when, only(rest, 'reason')),
  sequentialDependency: (first, rest) => sequentialDependency(first as Record<string, string[]>, only(rest)),
  unless: (first, rest) => unless(first as () => boolean, denyTools(['read'], only(rest, 'reason'))),
  observe: (first, rest) => observe(denyTools(first as string[], only(rest, 'reason'))),
};

/** A policy rejects unknown options, whatever else it is given. */
function only(rest: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(rest).filter(([name]) => name === 'id' || names.includes(name)));
}

const files = folder(new Map([['src', 'v1']]));
const codes = /^(?:options|tool|policy)\.invalid$|^policy\./;

let made = 0;
test.each(Object.entries(makers))(
  'property: %s is created or rejected with a code, and a created policy decides',
  async (_name, make) => {
    await fc.assert(
      fc.asyncProperty(firsts, options, fc.tuple(word, anything), async (first, rest, [tool, input]) => {
        const policy = makeOrRefuse(() => make(first, rest));
        if (policy === undefined) return;
        made += 1;
        expect([typeof policy.id, typeof policy.name]).toEqual(['string', 'string']);
        const call = { ...callOf('read'), input: input as Json };
        const named = { ...call, tool: { ...call.tool, name: tool } };
        for (const asked of [call, named]) {
          const answer: Decision | undefined = await runPolicy(policy, files).check(asked);
          expect(['allow', 'ask', 'deny']).toContain(answer.type);
          if (answer.type !== 'allow') expect(answer.reason).toMatch(/\S/u);
        }
      }),
      { numRuns: 80 },
    );
  },
);

// A single policy may have been rejected every time.
test('some policies were created', () => {
  expect(made).toBeGreaterThan(20);
});

function makeOrRefuse(make: () => Policy): Policy | undefined {
  try {
    return make();
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    expect(error.code).toMatch(codes);
    return undefined;
  }
}
