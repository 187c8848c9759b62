import { defineTool, type JsonObject } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { hasCheckName, releaseNames } from './release-names.ts';
import { releaseOrder } from './release-order.ts';

test('its version is that of the package, its presets are printable', () => {
  expect(releaseOrder.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify(releaseOrder.presets))).toMatchObject({
    recommended: { config: {} },
    strict: { config: { fresh: true, ask: true } },
    observe: { observe: true },
  });
});

test.each([
  { name: 'deploy', effects: 'external', is: true },
  { name: 'npm_publish', effects: 'external', is: true },
  { name: 'release-to-production', effects: 'state', is: true },
  { name: 'deploy_test', effects: 'external', is: true },
  { name: 'read_release', effects: 'none', is: false },
  { name: 'list_ships', effects: 'external', is: false },
  { name: 'get_latest_release', effects: 'external', is: false },
  { name: 'create_release', effects: 'external', is: true },
  { name: 'create_deployment', effects: 'external', is: true },
  { name: 'get_deployment', effects: 'external', is: false },
  { name: 'deployment', effects: 'external', is: false },
  { name: 'test', effects: 'external', is: false },
] as const)('$name with effects $effects: a release, $is', ({ name, effects, is }) => {
  const tool = defineTool({ name, description: 'A tool of the tests.', effects });
  expect(releaseNames(undefined)(tool)).toBe(is);
  expect(releaseNames([])(tool)).toBe(false);
  expect(releaseNames([name])(tool)).toBe(true);
});

test.each([
  ...[
    { name: 'test', is: true },
    { name: 'run_tests', is: true },
    { name: 'check-types', is: true },
    { name: 'npm_run_checks', is: true },
    { name: 'unit_test', is: true },
    { name: 'run_test_suite', is: true },
    { name: 'typecheck', is: true },
  ],
  ...[
    { name: 'latest', is: false },
    { name: 'check_weather', is: false },
    { name: 'test_email', is: false },
    { name: 'verify_user', is: false },
    { name: 'run_test_payment', is: false },
    { name: 'run_ci', is: false },
    { name: 'list_tests', is: false },
    { name: 'skip_tests', is: false },
    { name: 'write_test', is: false },
    { name: 'run_migration', is: false },
    { name: 'checkout', is: false },
    { name: 'build', is: false },
  ],
])('$name: a check, $is', ({ name, is }) => {
  expect(hasCheckName(name)).toBe(is);
});

test('only what the options name is mentioned', () => {
  const mentioned = (config: JsonObject) => packPolicies(releaseOrder, { config }).map(({ tools }) => tools);
  expect(mentioned({})).toEqual([[], []]);
  expect(mentioned({ ask: true, fresh: true })).toEqual([[], [], []]);
  const config = { order: { deploy: ['test'] }, releases: ['ship_it'], writers: { put: 'file' } };
  expect(mentioned(config)).toEqual([['deploy', 'test', 'ship_it'], ['put']]);
});

test.each<{ config: JsonObject; says: string }>([
  { config: { order: { deploy: 'test' } }, says: 'order.deploy' },
  { config: { order: { 'Deploy It': ['test'] } }, says: 'name of a tool' },
  { config: { order: { deploy: ['no such thing'] } }, says: 'name of a tool' },
  { config: { order: { a: ['b'], b: ['a'] } }, says: 'without a cycle' },
  { config: { releases: 'deploy' }, says: 'releases' },
  { config: { fresh: 'yes' }, says: 'fresh' },
  { config: { ask: 1 }, says: 'ask' },
  { config: { writers: { put: '' } }, says: 'writers' },
  { config: { orders: {} }, says: 'Unknown key' },
])('$config is refused', ({ config, says }) => {
  expect(() => packPolicies(releaseOrder, { config })).toThrow(
    expect.objectContaining({ code: 'pack.config.invalid', message: expect.stringContaining(says) }),
  );
});
