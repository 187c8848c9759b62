import type { JsonObject } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { approvals } from './approvals.ts';

test("has the package's version, and printable presets", () => {
  expect(approvals.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify(approvals.presets))).toMatchObject({
    recommended: { config: { firstUse: 'external', rememberIdentical: true } },
    strict: { config: { always: 'external', rememberIdentical: false } },
    observe: { observe: true },
  });
});

test('mentions only tools named in the options', () => {
  const mentioned = (config: JsonObject) => packPolicies(approvals, { config }).flatMap(({ mentions }) => mentions);
  expect(mentioned({})).toEqual([]);
  const rule = { tool: 'pay', argument: 'euros', above: 5 };
  expect(mentioned({ always: [{ runs: 'git push' }], rules: [rule, rule] })).toEqual(['pay']);
});

const rule = { tool: 'pay', argument: 'euros' };

test.each<{ config: JsonObject; says: string }>([
  { config: { always: 'all' }, says: 'always' },
  { config: { always: ['mail'] }, says: 'requireApproval' },
  { config: { firstUse: [{ runs: 'ls', reads: 'secrets' }] }, says: 'firstUse' },
  { config: { rules: [rule] }, says: 'exactly one of equals, in, above, below, matches, missing' },
  { config: { rules: [{ ...rule, above: 1, below: 5 }] }, says: 'exactly one of' },
  { config: { rules: [{ ...rule, over: 1 }] }, says: 'over' },
  { config: { rules: [{ ...rule, above: '1' }] }, says: 'above' },
  { config: { rules: [{ ...rule, in: [] }] }, says: 'in' },
  { config: { rules: [{ ...rule, missing: false }] }, says: 'missing' },
  { config: { rules: [{ ...rule, matches: 'x'.repeat(101) }] }, says: 'matches' },
  { config: { rules: [{ ...rule, argument: '', above: 1 }] }, says: 'argument' },
  { config: { rules: [{ ...rule, above: 1, reason: ' ' }] }, says: 'must not be empty' },
  { config: { rememberIdentical: 1 }, says: 'rememberIdentical' },
  { config: { rule: [] }, says: 'Unknown key' },
])('rejects $config', ({ config, says }) => {
  expect(() => packPolicies(approvals, { config })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config', message: expect.stringContaining(says) }),
  );
});
