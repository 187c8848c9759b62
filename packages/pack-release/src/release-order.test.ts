import { defineTool, type JsonObject, type Pack, type PolicyContext } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { releaseOrder } from './release-order.ts';

test('its version is that of the package, its presets are printable', () => {
  expect(releaseOrder.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify((releaseOrder as Pack).presets))).toMatchObject({
    recommended: { config: {} },
    strict: { config: { ask: true } },
    observe: { observe: true },
  });
});

test('without facts a tool that touches the outside is denied, and told what is missing', () => {
  const context = { state: new Map() } as unknown as PolicyContext; // What the policy looks at.
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
  { config: { fresh: true }, says: 'never counts' },
  { config: { writers: { put: 'file' } }, says: 'fileFacts' },
  { config: { ask: 1 }, says: 'ask' },
  { config: { orders: {} }, says: 'Unknown key' },
])('$config is refused', ({ config, says }) => {
  expect(() => packPolicies(releaseOrder, { config })).toThrow(
    expect.objectContaining({ code: 'pack.config.invalid', message: expect.stringContaining(says) }),
  );
});
