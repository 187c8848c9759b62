import { defineTool, type JsonObject, type Pack, type PolicyContext } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { releaseOrder } from './release-order.ts';

test("has the package's version, and printable presets", () => {
  expect(releaseOrder.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify((releaseOrder as Pack).presets))).toMatchObject({
    recommended: { config: {} },
    strict: { config: { ask: true } },
    observe: { observe: true },
  });
});

test('without facts a tool with external effects is denied with an explanation', () => {
  const context = { state: new Map() } as unknown as PolicyContext; // The part that the policy uses.
  const [checks] = packPolicies(releaseOrder);
  const call = (effects: 'state' | 'external') => ({
    id: 'c',
    tool: defineTool({ name: 'deploy', description: 'Deploys.', effects }),
    input: {},
  });
  expect(checks?.check(call('external'), context)).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('createFacts'),
  });
  expect(checks?.check(call('state'), context)).toEqual({ type: 'allow' });
});

test.each<{ config: JsonObject; says: string }>([
  { config: { order: { deploy: 'test' } }, says: 'order.deploy' },
  { config: { order: { 'make ship': ['-x'] } }, says: 'must be a command' },
  { config: { releases: 'deploy' }, says: 'releases' },
  { config: { checks: [''] }, says: 'checks' },
  { config: { fresh: true }, says: 'never count' },
  { config: { writers: { put: 'file' } }, says: 'fileFacts' },
  { config: { ask: 1 }, says: 'ask' },
  { config: { orders: {} }, says: 'Unknown key' },
])('rejects $config', ({ config, says }) => {
  expect(() => packPolicies(releaseOrder, { config })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config', message: expect.stringContaining(says) }),
  );
});
