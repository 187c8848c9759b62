import { defineTool } from '@holdfast/core';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
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
import { jsonSchema } from '@holdfast/schema/json';
import { type PolicyCall, type PolicyTesterOptions, policyTester } from '@holdfast/testing';
import { expect, test } from 'vitest';

const search = { tool: 'search', input: { query: 'peas' } };
const pay = (euros: unknown): PolicyCall => ({ tool: 'pay', input: { to: 'Ada', euros: euros as number } });
const read = (path: string): PolicyCall => ({ tool: 'read_file', input: { path } });
const write = (path: string): PolicyCall => ({ tool: 'write_file', input: { path, content: 'new' } });
const edit = (path: string): PolicyCall => ({ tool: 'edit_file', input: { path, oldText: 'o', newText: '0' } });

const payTool = defineTool({
  name: 'pay',
  description: 'Pay euros to a person.',
  inputSchema: jsonSchema<{ readonly to: string; readonly euros: number }>({
    type: 'object',
    properties: { to: { type: 'string' }, euros: { type: 'number' } },
    required: ['to', 'euros'],
  }),
  effects: 'state',
  execute: () => null,
});

const files = {
  tools: fileTools(),
  resources: () => ({ filesystem: memoryFilesystem({ 'src/a.ts': 'old', '.env': 'key' }) }),
};

const suites: Readonly<Record<string, PolicyTesterOptions>> = {
  allowTools: {
    create: () => allowTools(['search']),
    cases: [
      { call: search, answer: 'allow' },
      { call: pay(1), answer: 'deny', reason: '`pay` is not an allowed tool' },
    ],
  },
  denyTools: {
    create: () => denyTools(['pay'], { reason: 'No money leaves.' }),
    cases: [
      { call: search, answer: 'allow' },
      { call: pay(1), answer: 'deny', reason: 'No money leaves.' },
    ],
  },
  requireArguments: {
    create: () => requireArguments(payTool, ({ euros }) => euros <= 100, { reason: 'At most 100.' }),
    tools: [payTool],
    cases: [
      { call: pay(100), answer: 'allow' },
      { call: pay(100.01), answer: 'deny', reason: 'At most 100.' },
    ],
  },
  'requireArguments, of any arguments': {
    create: () =>
      requireArguments('pay', (input) => typeof Object(input).euros === 'number' && Object(input).euros <= 100),
    cases: [
      { call: pay(100), answer: 'allow' },
      { call: pay(101), answer: 'deny' },
      { call: pay('1'), answer: 'deny' },
    ],
  },
  pathScope: {
    ...files,
    create: () => pathScope({ read: ['src'], write: ['src/generated'] }),
    cases: [
      { call: read('src/a.ts'), answer: 'allow' },
      { call: read('.env'), answer: 'deny', reason: '`.env` must not be read' },
      { call: write('src/a.ts'), answer: 'deny' },
      { call: write('src/generated/b.ts'), answer: 'allow' },
      { call: { tool: 'grep_files', input: { pattern: 'key' } }, answer: 'deny' },
      { call: { tool: 'glob_files', input: { pattern: '**' } }, answer: 'deny' },
    ],
  },
  readBeforeWrite: {
    ...files,
    create: () => readBeforeWrite(),
    // Files by these names are other files in memory.
    different: ['case', 'unicode', 'space'],
    cases: [
      { call: write('src/b.ts'), answer: 'allow' },
      { call: write('src/a.ts'), answer: 'deny', reason: 'has not been read' },
      { after: [read('src/a.ts')], call: write('src/a.ts'), answer: 'allow' },
      { after: [{ ...write('src/a.ts'), outcome: 'denied' }], call: edit('src/a.ts'), answer: 'deny' },
      { after: [write('src/b.ts')], call: edit('src/b.ts'), answer: 'allow' },
    ],
  },
  requireApproval: {
    create: () => requireApproval({ tools: ['pay'], when: (input) => Object(input).to !== 'the bank' }),
    cases: [
      { call: pay(1), answer: 'ask', reason: '`pay` needs approval.' },
      { call: { tool: 'pay', input: { to: 'the bank' } }, answer: 'allow' },
      { call: search, answer: 'allow' },
    ],
  },
  sequentialDependency: {
    create: () => sequentialDependency({ deploy: ['test', 'build'], build: ['lint'] }),
    cases: [
      { call: { tool: 'lint' }, answer: 'allow' },
      { call: { tool: 'deploy' }, answer: 'deny', reason: '`test`, `build`' },
      { after: [{ tool: 'test' }], call: { tool: 'deploy' }, answer: 'deny', reason: 'needs `build`' },
      { after: [{ tool: 'lint', outcome: 'failed' }], call: { tool: 'build' }, answer: 'deny' },
      { after: [{ tool: 'test' }, { tool: 'lint' }, { tool: 'build' }], call: { tool: 'deploy' }, answer: 'allow' },
    ],
  },
  callBudget: {
    create: () => callBudget({ maxCalls: 2 }),
    cases: [
      { after: [search], call: search, answer: 'allow' },
      { after: [search, search], call: search, answer: 'deny' },
      { after: [search, { ...search, outcome: 'failed' }], call: search, answer: 'allow' },
    ],
  },
  rateLimit: {
    create: ({ clock }) => rateLimit({ maxCalls: 2, perMs: 60_000, tools: ['search'], clock }),
    cases: [
      { after: [search], call: search, answer: 'allow' },
      { after: [search, { waitMs: 20_000 }, search], call: search, answer: 'deny', reason: 'try again in 40 s' },
      { after: [search, { waitMs: 20_000 }, search, { waitMs: 40_000 }], call: search, answer: 'allow' },
      { after: [search, { ...search, outcome: 'failed' }, pay(1)], call: search, answer: 'allow' },
      { after: [search, search], call: pay(1), answer: 'allow' },
    ],
  },
  every: {
    create: () => every(callBudget({ maxCalls: 1 }), denyTools(['pay'])),
    cases: [
      { call: search, answer: 'allow' },
      { call: pay(1), answer: 'deny' },
      { after: [search], call: pay(1), answer: 'deny', reason: 'All 1 calls of this session are used.\n`pay`' },
    ],
  },
  some: {
    create: ({ clock }) =>
      some(
        callBudget({ maxCalls: 1 }),
        rateLimit({ maxCalls: 1, perMs: 1_000, clock }),
        requireApproval({ tools: ['search'] }),
      ),
    cases: [
      { after: [search], call: search, answer: 'ask' },
      { after: [search, search, { waitMs: 1_000 }], call: search, answer: 'allow' },
    ],
  },
  unless: {
    create: () => unless(({ tool }) => tool.name === 'search', callBudget({ maxCalls: 1 })),
    cases: [
      { after: [search, search], call: search, answer: 'allow' },
      { after: [search], call: pay(1), answer: 'deny' },
    ],
  },
  observe: {
    create: () => observe(callBudget({ maxCalls: 1 })),
    cases: [
      { call: search, answer: 'allow' },
      { after: [search], call: search, answer: 'allow', observed: 'deny', reason: 'All 1 calls' },
      { after: [search, search], call: search, answer: 'allow', observed: 'deny' },
    ],
  },
};

const checks = Object.entries(suites).flatMap(([policy, suite]) =>
  policyTester(suite).map((check) => ({ policy, ...check })),
);

test.each(checks.filter(({ skipped }) => skipped === undefined))('$policy: $name', async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});

test('little is skipped', () => {
  const skipped = checks.filter((check) => check.skipped !== undefined);
  expect(skipped.map(({ policy, skipped: why }) => `${policy}: ${why}`)).toEqual([
    'readBeforeWrite: `case` is declared as different',
    'readBeforeWrite: `unicode` is declared as different',
    'readBeforeWrite: `space` is declared as different',
  ]);
});
