import { defineTool, type Json, type JsonObject, type Pack, type Policy, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fetchFacts, fileFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { approvals } from '@holdfast/pack-approvals';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { provenance } from '@holdfast/pack-provenance';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type Session } from '@holdfast/session';
import type { Subject } from '../compare.ts';

/** A pack, and a call that it checks and allows. */
interface PackCall {
  readonly pack: Pack;
  readonly config?: JsonObject;
  readonly tool: string;
  readonly input: JsonObject;
  /** Calls of the session before. */
  readonly before?: readonly JsonObject[];
}

const read: Pick<PackCall, 'tool' | 'input'> = { tool: 'read_file', input: { path: 'docs/tea.md' } };
/** About 2 kB. */
function mails(index: number): JsonObject {
  const people = Array.from({ length: 10 }, (_, person) => `person${index * 10 + person}@example.com`);
  return { people, body: `Dear all, see https://example.com/${index} before May ${index + 1}. `.repeat(27) };
}

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
  {
    pack: provenance,
    config: { trusted: { read_mail: ['people'] } },
    tool: 'send_mail',
    input: { to: ['person7@example.com', 'person93@example.com'], body: 'Tea at five?' },
    before: Array.from({ length: 10 }, (_, index) => ({ answer: mails(index) })),
  },
  { pack: releaseOrder, ...read },
  { pack: shellGuard, tool: 'run_command', input: { command } },
];

const tools: Tool[] = [
  ...fileTools(),
  ...['run_command', 'fetch_url', 'deploy', 'send_mail'].map((name) =>
    defineTool({
      name,
      description: 'Does nothing.',
      inputSchema: jsonSchema({ type: 'object', additionalProperties: true }),
      effects: 'state',
      execute: () => null,
    }),
  ),
];

tools.push(
  defineTool({
    name: 'read_mail',
    description: 'Answers with its argument.',
    inputSchema: jsonSchema({ type: 'object', additionalProperties: true }),
    effects: 'none',
    execute: (input) => (input as { readonly answer: Json }).answer,
  }) as Tool,
);

const disk = memoryDisk({ '/project/docs/tea.md': 'Green, black, white.\n' });
const facts = createFacts({
  describers: [shellFacts(), fileFacts(), fetchFacts()],
  view: { folder: '/project', workspace: '/project', disk },
});

/** For each pack its call with its policies in force, and bare. */
export async function packSubjects(operations: number): Promise<readonly Subject[]> {
  const subjects = packCalls.map(async (packCall) => {
    const { name } = packCall.pack;
    const policies = packPolicies(packCall.pack, { config: packCall.config ?? {} });
    return [
      {
        ...calls(packCall, { policies: [], earlier: await earlierOf(packCall, []), operations }),
        name: `${name}, bare`,
      },
      {
        ...calls(packCall, { policies, earlier: await earlierOf(packCall, policies), operations }),
        name,
        against: [{ name: `${name}, bare` }],
      },
    ];
  });
  return (await Promise.all(subjects)).flat();
}

type Exported = ReturnType<Session['export']>;

/** A session after the calls before. */
async function earlierOf({ before = [] }: PackCall, policies: readonly Policy[]): Promise<Exported> {
  const session = createSession({ id: 'bench' });
  for (const [index, input] of before.entries()) {
    const call = { id: `before-${index}`, name: 'read_mail', arguments: input };
    await executeToolCall(call, { tools, session, policies });
  }
  return session.export();
}

interface Calls {
  readonly policies: readonly Policy[];
  readonly earlier: Exported;
  readonly operations: number;
}

function calls({ tool, input }: PackCall, { policies, earlier, operations }: Calls): Omit<Subject, 'name'> {
  return {
    operations,
    prepare() {
      const resources = { filesystem: memoryFilesystem({ 'docs/tea.md': 'Green, black, white.\n' }) };
      const session = createSession({ id: 'bench' });
      session.import(earlier);
      const options = { tools, session, policies, resources, facts };
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
