import { defineTool, type JsonObject, type Pack } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fetchFacts, fileFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { approvals } from '@holdfast/pack-approvals';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import type { Subject } from '../compare.ts';

/** A pack, and a call that it checks and allows. */
interface PackCall {
  readonly pack: Pack;
  readonly config?: JsonObject;
  readonly tool: string;
  readonly input: JsonObject;
}

const read: Pick<PackCall, 'tool' | 'input'> = { tool: 'read_file', input: { path: 'docs/tea.md' } };
const command = 'git log --oneline --since=yesterday | grep -c "tea" && ls -la docs';

const packCalls: readonly PackCall[] = [
  { pack: approvals, config: { firstUse: [{ runs: 'make deploy' }] }, ...read },
  { pack: budgets, config: { maxCalls: Number.MAX_SAFE_INTEGER }, ...read },
  { pack: filesystemGuard, ...read },
  {
    pack: networkEgress,
    config: { hosts: ['*.example.org'] },
    tool: 'fetch_url',
    input: { url: 'https://api.example.org/v1/tea?kind=green&page=2' },
  },
  { pack: releaseOrder, ...read },
  { pack: shellGuard, tool: 'run_command', input: { command } },
];

const tools = [
  ...fileTools(),
  ...['run_command', 'fetch_url', 'deploy'].map((name) =>
    defineTool({
      name,
      description: 'Does nothing.',
      inputSchema: jsonSchema({ type: 'object', additionalProperties: true }),
      effects: 'state',
      execute: () => null,
    }),
  ),
];

const disk = memoryDisk({ '/project/docs/tea.md': 'Green, black, white.\n' });
const facts = createFacts({
  describers: [shellFacts(), fileFacts(), fetchFacts()],
  view: { folder: '/project', workspace: '/project', disk },
});

/** For each pack its call with its policies in force, and bare. */
export function packSubjects(operations: number): readonly Subject[] {
  return packCalls.flatMap((packCall) => {
    const { name } = packCall.pack;
    return [
      { ...calls(packCall, [], operations), name: `${name}, bare` },
      {
        ...calls(packCall, packPolicies(packCall.pack, { config: packCall.config ?? {} }), operations),
        name,
        against: [{ name: `${name}, bare` }],
      },
    ];
  });
}

function calls(
  { tool, input }: PackCall,
  policies: ReturnType<typeof packPolicies>,
  operations: number,
): Omit<Subject, 'name'> {
  return {
    operations,
    prepare() {
      const resources = { filesystem: memoryFilesystem({ 'docs/tea.md': 'Green, black, white.\n' }) };
      const options = { tools, session: createSession(), policies, resources, facts };
      return async () => {
        for (let time = 0; time < operations; time += 1) {
          const ended = await executeToolCall({ id: `call-${time}`, name: tool, arguments: input }, options);
          if (ended.kind === 'ok') continue;
          throw new Error(`\`${tool}\` ended as \`${ended.kind}\`${'message' in ended ? `: ${ended.message}` : ''}`);
        }
      };
    },
  };
}
