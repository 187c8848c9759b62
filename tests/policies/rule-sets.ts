import { allow, ask, definePolicy, deny, type Policy, type PolicyDecision, type PreparedCall } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { executeToolCall } from '@holdfast/executor';
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
import { createSession, type Session } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { expect } from 'vitest';

// Policies by what they are made of, so that the same ones can be made again.
type RuleSet = readonly Rule[];

interface Rule {
  readonly kind: keyof typeof makers;
  readonly names: readonly string[];
  readonly count: number;
  readonly folders: readonly string[];
  readonly around: 'nothing' | 'observe' | 'unless' | 'every' | 'some';
  /** The other part of a combination. */
  readonly beside: 'allow' | 'ask' | 'deny';
}

/**
 * The decision of a set of policies about a call, and its reason, do not depend on their order: tries `runs` random sets, each after random
 * calls, and answers how often the call ended how.
 */
export async function checkOrder(runs: number): Promise<ReadonlyMap<string, number>> {
  const kinds = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(ruleSetCase, async (ruleSet) => {
      const asTheyAre = ruleSet.rules.map((_rule, index) => index);
      const decided = await decide(ruleSet, asTheyAre);
      expect(await decide(ruleSet, ruleSet.order)).toEqual(decided);
      kinds.set(decided.kind, (kinds.get(decided.kind) ?? 0) + 1);
    }),
    { numRuns: runs },
  );
  return kinds;
}

const clock = manualClock(1_000);
const names = ['read_file', 'write_file', 'edit_file', 'list_files'];
const makers = {
  allowTools: ({ names }: Rule, id: string): Policy => allowTools(names, { id }),
  denyTools: ({ names }: Rule, id: string): Policy => denyTools(names, { id }),
  requireApproval: ({ names }: Rule, id: string): Policy => requireApproval({ tools: names, id }),
  requireArguments: ({ names: [name = 'read_file'], folders }: Rule, id: string): Policy =>
    requireArguments(name, (input) => isPlainObject(input) && folders.includes(String(input['path']).slice(0, 1)), {
      id,
    }),
  pathScope: ({ folders, count }: Rule, id: string): Policy =>
    pathScope({ read: folders, ...(count > 1 ? { write: folders.slice(1) } : {}), id }),
  callBudget: ({ count }: Rule, id: string): Policy => callBudget({ maxCalls: count, id }),
  rateLimit: ({ count }: Rule, id: string): Policy => rateLimit({ maxCalls: count, perMs: 500, clock, id }),
  readBeforeWrite: (_rule: Rule, id: string): Policy => readBeforeWrite({ id }),
  sequentialDependency: ({ names: [first = 'read_file'] }: Rule, id: string): Policy =>
    sequentialDependency(first === 'write_file' ? {} : { write_file: [first] }, { id }),
  answering: ({ beside }: Rule, id: string): Policy =>
    definePolicy({ name: 'answering', id, check: () => ({ allow, ask: ask('Well?'), deny: deny('No.') })[beside] }),
  throwing: (_rule: Rule, id: string): Policy =>
    definePolicy({
      name: 'throwing',
      id,
      check() {
        throw new Error('broke');
      },
    }),
};

// The keys of an object that is written down here.
const kinds = Object.keys(makers) as (keyof typeof makers)[];

const rule: fc.Arbitrary<Rule> = fc.record({
  kind: fc.constantFrom(...kinds),
  names: fc.subarray(names, { minLength: 1 }),
  count: fc.integer({ min: 1, max: 4 }),
  folders: fc.subarray(['a', 'b', 'c']),
  around: fc.constantFrom('nothing', 'nothing', 'observe', 'unless', 'every', 'some'),
  beside: fc.constantFrom('allow', 'ask', 'deny'),
});
const paths = ['a/x', 'b/x', 'c/x', 'a/new', './b/../a/x', '../x', 'missing'];
const call = fc.record({ name: fc.constantFrom(...names), path: fc.constantFrom(...paths) });

/** A rule set, what happened before, the call that is decided about, and another order of the same rules. */
const ruleSetCase: fc.Arbitrary<RuleSetCase> = fc
  .tuple(fc.array(rule, { minLength: 1, maxLength: 6 }), fc.array(call, { maxLength: 4 }), call)
  .chain(([rules, before, asked]) =>
    fc
      .shuffledSubarray(
        rules.map((_rule, index) => index),
        { minLength: rules.length },
      )
      .map((order) => ({
        rules,
        order,
        before,
        asked,
      })),
  );

interface RuleSetCase {
  readonly rules: RuleSet;
  readonly order: readonly number[];
  readonly before: readonly FileCall[];
  readonly asked: FileCall;
}

interface FileCall {
  readonly name: string;
  readonly path: string;
}

function toPolicy(rule: Rule, id: string): Policy {
  const policy = makers[rule.kind](rule, id);
  const isAboutA = ({ input }: PreparedCall): boolean => isPlainObject(input) && input['path'] === 'a/x';
  const other = makers.answering(rule, 'other');
  switch (rule.around) {
    case 'nothing':
      return policy;
    case 'observe':
      return observe(policy);
    case 'unless':
      return unless(isAboutA, policy);
    case 'every':
      return every(policy, other);
    case 'some':
      return some(other, policy);
  }
}

const tools = fileTools().filter(({ name }) => names.includes(name));

interface Decided {
  readonly before: readonly string[];
  readonly kind: string;
  readonly decisions: readonly string[];
}

/** The decision, and how the calls before it ended. Reasons are sorted: their order is that of the policies. */
async function decide({ rules, before, asked }: RuleSetCase, order: readonly number[]): Promise<Decided> {
  // Each rule keeps its id wherever it stands.
  const policies = order.flatMap((index) => {
    const rule = rules[index];
    return rule === undefined ? [] : [toPolicy(rule, `p-${index}`)];
  });
  const session = createSession();
  const options = {
    tools,
    session,
    policies,
    resources: { filesystem: memoryFilesystem({ 'a/x': 'one', 'b/x': 'two', 'c/x': 'three' }) },
  };
  const endings: string[] = [];
  for (const each of before) {
    const { kind } = await executeToolCall(toCall(each), { ...options, approve: () => ({ type: 'approve' }) });
    endings.push(kind);
  }
  const outcome = await executeToolCall({ id: 'asked', ...toCall(asked) }, options);
  const decisions = outcome.kind === 'suspended' ? (outcome.pending[0]?.asks ?? []) : decisionsOf(session);
  return {
    before: endings,
    kind: outcome.kind,
    decisions: decisions.map((decision) => JSON.stringify(decision)).sort(),
  };
}

const more: ReadonlyMap<string, object> = new Map([
  ['write_file', { content: 'new' }],
  ['edit_file', { oldText: 'o', newText: '0' }],
]);

function toCall({ name, path }: FileCall) {
  return { name, arguments: { path, ...more.get(name) } };
}

function decisionsOf(session: Session): readonly PolicyDecision[] {
  const end = [...session.records()].find(({ type, callId }) => type === 'tool-call-end' && callId === 'asked');
  // As the executor writes it.
  return (end?.['decisions'] ?? []) as unknown as readonly PolicyDecision[];
}
