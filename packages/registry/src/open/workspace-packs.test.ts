import { readFile } from 'node:fs/promises';
import { definePack, definePlugin, definePolicy, deny, type Pack, type Policy } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HoldfastConfig, WorkspaceConfig } from '../config/config.ts';
import { mergeConfig } from '../config/merge.ts';
import { type OpenedRegistry, openRegistry } from './open-registry.ts';
import { createFolder, packageFiles } from './test-folder.ts';

/** Denies the tools in its options. */
function makeGuard(name: string): Pack {
  return definePack<{ readonly tools?: readonly string[] }>({
    name,
    version: '1.0.0',
    description: 'A pack.',
    configSchema: jsonSchema({ type: 'object', properties: { tools: { type: 'array', items: { type: 'string' } } } }),
    presets: {
      recommended: { description: 'As it is.', config: { tools: ['push'] } },
      strict: { description: 'More.', config: { tools: ['push', 'pull'] } },
      off: { description: 'Nothing.', config: { tools: [] } },
    },
    policies: ({ tools = [] }) => [
      definePolicy({
        name: 'deny-some',
        check: ({ tool }) => (tools.includes(tool.name) ? deny('No.') : { type: 'allow' }),
      }),
    ],
  });
}

function open(config: HoldfastConfig, workspace: WorkspaceConfig, directory = '/nowhere'): Promise<OpenedRegistry> {
  const layers = [
    { layer: 'host', config } as const,
    { layer: 'workspace', file: 'holdfast.policy.json', config: workspace } as const,
  ];
  return openRegistry(mergeConfig(layers), { directory });
}

const names = ['push', 'pull', 'rm', 'status'];

/** The tools that no policy denies. */
async function allowedBy(policies: readonly Policy[]): Promise<readonly string[]> {
  const allowed: string[] = [];
  for (const name of names) {
    // These policies use only the tool's name.
    const decisions = await Promise.all(
      policies.map(async ({ check }) => check({ tool: { name } } as never, {} as never)),
    );
    if (decisions.every(({ type }) => type === 'allow')) allowed.push(name);
  }
  return allowed;
}

test.each<readonly [string, WorkspaceConfig['packs'], readonly string[]]>([
  ['the preset `off`', [{ pack: 'guard', preset: 'off' }], ['pull', 'rm', 'status']],
  ['options that let everything through', [{ pack: 'guard', config: { tools: [] } }], ['pull', 'rm', 'status']],
  ['only observing', [{ pack: 'guard', observe: true }], ['pull', 'rm', 'status']],
  ['the preset `strict`', [{ pack: 'guard', preset: 'strict' }], ['rm', 'status']],
  ['options of its own', [{ pack: 'guard', config: { tools: ['rm'] } }, 'guard'], ['pull', 'status']],
])('a workspace cannot turn off a pack of the host: %s', async (_, packs, allowed) => {
  const opened = await open({ packs: [makeGuard('guard')] }, packs === undefined ? {} : { packs });
  expect(await allowedBy(opened.registry.policies)).toEqual(allowed);
});

test('property: packs of a workspace never allow more', async () => {
  const use = fc.record(
    {
      pack: fc.constantFrom('guard', 'git/git-safety', 'git-safety'),
      preset: fc.constantFrom('recommended', 'strict', 'off', 'observe'),
      config: fc.record({ tools: fc.subarray(names) }, { requiredKeys: [] }),
      observe: fc.boolean(),
    },
    { requiredKeys: ['pack'] },
  );
  const config = {
    plugins: [
      definePlugin({
        name: 'git',
        version: '1.0.0',
        description: 'Git.',
        holdfast: '*',
        packs: [makeGuard('git-safety')],
      }),
    ],
    packs: [makeGuard('guard')],
  };
  const before = await allowedBy((await open(config, {})).registry.policies);
  expect(before).toEqual(['pull', 'rm', 'status']);
  await fc.assert(
    fc.asyncProperty(fc.array(use, { maxLength: 5 }), async (packs) => {
      const { registry, used } = await open(config, { packs });
      expect(before).toEqual(expect.arrayContaining([...(await allowedBy(registry.policies))]));
      expect(used.packs).toHaveLength(1 + packs.length);
      expect(new Set(used.packs.map(({ id }) => id)).size).toBe(used.packs.length);
    }),
  );
});

test("a pack is found by its own name, the host's entry, or a plugin's offer", async () => {
  await using folder = await createFolder(packageFiles('@acme/pack-shell', 'export default pack("shell-guard");'));
  const git = definePlugin({
    name: 'git',
    version: '1.0.0',
    description: 'Git.',
    holdfast: '*',
    packs: [makeGuard('git-safety')],
  });
  const packs = ['shell-guard', '@acme/pack-shell', 'git/git-safety', 'git-safety'];
  const opened = await open({ plugins: [git], packs: ['@acme/pack-shell'] }, { packs }, folder.path);
  expect(opened.used.packs.map(({ entry, id, origin }) => [entry, id, origin.layer])).toEqual([
    ['@acme/pack-shell', 'shell-guard', 'host'],
    ['@acme/pack-shell', 'workspace-shell-guard', 'workspace'],
    ['@acme/pack-shell', 'workspace-shell-guard-2', 'workspace'],
    ['git/git-safety', 'workspace-git-safety', 'workspace'],
    ['git/git-safety', 'workspace-git-safety-2', 'workspace'],
  ]);
  expect(opened.registry.packsInForce[1]?.provenance).toMatchObject({ package: '@acme/pack-shell' });
});

test.each([
  'other',
  './evil.mjs',
  '@acme/evil',
  'evil',
  'git/other',
  'toString',
  '__proto__',
  'Guard',
  'guard ',
  'guard#default',
])(
  'config.invalid: policy: a workspace names `%s`, which the host does not have; nothing is imported',
  async (pack) => {
    const poison = 'globalThis.holdfastRanOfWorkspace = true; export default pack("evil");';
    await using folder = await createFolder({
      ...packageFiles('@acme/evil', poison),
      ...packageFiles('evil', poison),
      'evil.mjs': poison,
    });
    await expect(open({ packs: [makeGuard('guard')] }, { packs: [pack] }, folder.path)).rejects.toMatchObject({
      code: 'config.invalid',
      reason: 'policy',
      message: expect.stringContaining(`\`${pack}\``) as string,
    });
    expect(globalThis).not.toHaveProperty('holdfastRanOfWorkspace');
    expect(await readFile(`${folder.path}/evil.mjs`, 'utf8')).toBe(poison);
  },
);

test('config.invalid: policy: an ambiguous pack name is rejected', async () => {
  const plugin = (name: string) =>
    definePlugin({ name, version: '1.0.0', description: 'One.', holdfast: '*', packs: [makeGuard('safety')] });
  const config = { plugins: [plugin('git'), plugin('svn')] };
  await expect(open(config, { packs: ['safety'] })).rejects.toMatchObject({ code: 'config.invalid', reason: 'policy' });
  expect((await open(config, { packs: ['svn/safety'] })).used.packs).toHaveLength(1);
});

test('a host may use a pack twice with two ids, and its ids avoid those of a workspace', async () => {
  const guard = makeGuard('guard');
  const name = 'a-very-long-name-for-a-pack-1234';
  const packs = [guard, { pack: guard, id: 'workspace-guard', preset: 'strict' }, makeGuard(name)];
  const opened = await open({ packs }, { packs: ['guard', name, name] });
  expect(opened.used.packs.map(({ id }) => id)).toEqual([
    'guard',
    'workspace-guard',
    name,
    'workspace-guard-2',
    'workspace-a-very-long-name-f',
    'workspace-a-very-long-name-f-2',
  ]);
  await expect(open({ packs: [guard, guard] }, {})).rejects.toMatchObject({
    code: 'registry.invalid',
    reason: 'pack.duplicate',
  });
});
