import { defineTool, type Policy } from '@holdfast/core';
import { expect, test } from 'vitest';
import { configPolicies } from './config.ts';
import { mergeConfig } from './merge.ts';

/** The ids of the policies that deny a call of the tool `name`. */
async function deniers(policies: readonly Policy[], name: string): Promise<readonly string[]> {
  const tool = defineTool({ name, description: 'Does it.', execute: () => name });
  const call = { callId: 'c1', tool, input: {}, arguments: {} };
  const denying: string[] = [];
  for (const { id, check } of policies) {
    // These policies use only the tool.
    const decision = await check(call as never, {} as never);
    if (decision.type === 'deny') denying.push(id);
  }
  return denying;
}

test('the lists become policies named after their layer', async () => {
  const config = mergeConfig([
    { layer: 'host', config: { denyTools: ['push'], allowTools: ['push', 'pull', 'rm', 'status'] } },
    { layer: 'workspace', config: { denyTools: ['push', 'rm'], allowTools: ['pull', 'rm', 'push', 'status'] } },
    { layer: 'command line', config: { denyTools: ['pull'] } },
  ]);
  const { policies, unknown } = configPolicies(config, ['push', 'pull', 'rm', 'status', 'clone']);
  expect(unknown).toEqual([]);
  expect(await deniers(policies, 'push')).toEqual(['config-host-deny-tools']);
  expect(await deniers(policies, 'rm')).toEqual(['config-workspace-deny-tools']);
  expect(await deniers(policies, 'pull')).toEqual(['config-command-line-deny-tools']);
  expect(await deniers(policies, 'status')).toEqual([]);
  expect(await deniers(policies, 'clone')).toEqual(['config-allow-tools']);
});

test('unknown tool names are reported and not mentioned by a policy', async () => {
  const config = mergeConfig([
    { layer: 'host', config: { denyTools: ['pusj'], allowTools: ['gone'] } },
    { layer: 'workspace', config: { denyTools: ['deploy'] } },
  ]);
  const { policies, unknown } = configPolicies(config, ['push']);
  expect(unknown).toEqual([
    { key: 'allowTools', name: 'gone', origin: { layer: 'host' } },
    { key: 'denyTools', name: 'pusj', origin: { layer: 'host' } },
    { key: 'denyTools', name: 'deploy', origin: { layer: 'workspace' } },
  ]);
  expect(policies.flatMap(({ mentions }) => mentions)).toEqual([]);
  expect(await deniers(policies, 'push')).toEqual(['config-allow-tools']);
});

test('an empty list allows nothing, a missing list everything', async () => {
  const none = configPolicies(mergeConfig([{ layer: 'host', config: { allowTools: [] } }]), ['push']);
  expect(await deniers(none.policies, 'push')).toEqual(['config-allow-tools']);
  expect(configPolicies(mergeConfig([]), ['push'])).toEqual({ policies: [], unknown: [] });
});
