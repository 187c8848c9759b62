import { executeToolCall } from '@holdfast/executor';
import { createFacts, fileFacts, memoryDisk } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import type { HoldfastConfig } from '@holdfast/registry';
import { configPolicies, mergeConfig, type WorkspaceConfig } from '@holdfast/registry/config';
import { openRegistry } from '@holdfast/registry/node';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const files = { '.env': 'TOKEN=1', 'src/a.ts': 'const a = 1;', 'notes.txt': 'Notes.' };
const tools = fileTools();
const names = tools.map(({ name }) => name);
const calls = [
  { name: 'read_file', arguments: { path: '.env' } },
  { name: 'read_file', arguments: { path: 'notes.txt' } },
  { name: 'write_file', arguments: { path: 'src/b.ts', content: 'b' } },
  { name: 'write_file', arguments: { path: 'notes.txt', content: 'b' } },
  { name: 'write_file', arguments: { path: '.git/hooks/x', content: 'b' } },
  { name: 'delete_file', arguments: { path: 'notes.txt' } },
  { name: 'list_files', arguments: {} },
];

const disk = memoryDisk(Object.fromEntries(Object.entries(files).map(([path, text]) => [`/w/${path}`, text])));
const facts = createFacts({ describers: [fileFacts()], view: { folder: '/w', workspace: '/w', disk } });

/** Which of the calls go through, each in a session of its own. The packs are imported by name, as a project's are. */
async function goThrough(config: HoldfastConfig, workspace?: WorkspaceConfig): Promise<readonly number[]> {
  const layers = [
    { layer: 'host', config } as const,
    ...(workspace === undefined ? [] : [{ layer: 'workspace', config: workspace } as const]),
  ];
  const effective = mergeConfig(layers);
  const { registry, diagnostics } = await openRegistry(effective, { directory: import.meta.dirname });
  expect(diagnostics).toEqual([]);
  const policies = [...registry.policies, ...configPolicies(effective, names).policies];
  const kinds = await Promise.all(
    calls.map(async (call) => {
      const resources = { filesystem: memoryFilesystem(files) };
      const outcome = await executeToolCall(call, { tools, policies, resources, facts, session: createSession() });
      return outcome.kind;
    }),
  );
  return kinds.flatMap((kind, index) => (kind === 'ok' ? [index] : []));
}

const host: HoldfastConfig = {
  packs: ['@holdfast/pack-filesystem', { pack: '@holdfast/pack-release', preset: 'observe' }],
  denyTools: ['delete_file'],
  allowTools: ['read_file', 'write_file', 'delete_file'],
};

test('a permissive policy file lets nothing through that the host does not; a strict one less', async () => {
  const own = await goThrough(host);
  expect(own).toEqual([1, 2, 3]);
  const permissive: WorkspaceConfig = {
    packs: [
      { pack: 'filesystem-guard', observe: true },
      { pack: '@holdfast/pack-release', preset: 'observe', observe: true },
    ],
    allowTools: names,
    denyTools: [],
  };
  expect(await goThrough(host, permissive)).toEqual(own);
  expect(await goThrough(host, { packs: [{ pack: 'filesystem-guard', config: { write: ['src'] } }] })).toEqual([1, 2]);
  expect(await goThrough(host, { allowTools: ['write_file'] })).toEqual([2, 3]);
});

test('whatever a workspace says, the calls that go through are among those of the host', async () => {
  const tool = fc.subarray(names);
  const pack = fc.record(
    {
      pack: fc.constantFrom('filesystem-guard', 'release-order', '@holdfast/pack-filesystem'),
      preset: fc.constantFrom('recommended', 'strict', 'observe'),
      observe: fc.boolean(),
    },
    { requiredKeys: ['pack'] },
  );
  const workspace = fc.record(
    { allowTools: tool, denyTools: tool, packs: fc.array(pack, { maxLength: 3 }) },
    { requiredKeys: [] },
  );
  const allowing = fc.option(tool, { nil: undefined });
  await fc.assert(
    fc.asyncProperty(allowing, workspace, async (allowTools, said) => {
      const config = { packs: host.packs ?? [], ...(allowTools === undefined ? {} : { allowTools }) };
      const own = await goThrough(config);
      expect(own).toEqual(expect.arrayContaining([...(await goThrough(config, said))]));
    }),
    { numRuns: 60 },
  );
});
