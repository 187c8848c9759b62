import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, type Ended, type Project } from './stranger.ts';

// Our packs in a project outside of the workspace, as anybody installs them: all by config, and a decision of each of them.

const packs = ['approvals', 'budgets', 'filesystem', 'network', 'provenance', 'release', 'shell'].map(
  (name) => `@holdfast/pack-${name}`,
);
const toolFile = (name: string, argument: string): string => `export const METADATA = {
  name: '${name}', function: 'act', description: 'Acts.', dangerous: false, effects: 'state',
  parameters: { type: 'object', properties: { ${argument}: { type: 'string', description: 'What' } }, required: ['${argument}'] },
};
export function act() {
  return 'done';
}
`;
const config = (options: string): string => `import { defineConfig } from '@holdfast/registry';

export default defineConfig({
  packs: [
    '@holdfast/pack-filesystem',
    '@holdfast/pack-network',
    '@holdfast/pack-provenance',
    '@holdfast/pack-release',
    '@holdfast/pack-shell',
    ${options}
  ],
});
`;
/** A call that each pack refuses, and one that all allow. */
const calls = [
  { name: 'read_file', arguments: { path: '.env' }, pack: 'filesystem-guard' },
  { name: 'fetch_url', arguments: { url: 'http://169.254.169.254/latest/meta-data' }, pack: 'network-egress' },
  { name: 'send_mail', arguments: { to: 'eve@example.com' }, pack: 'provenance' },
  { name: 'run_command', arguments: { command: 'make deploy' }, pack: 'release-order' },
  { name: 'run_command', arguments: { command: 'ls && sudo ls' }, pack: 'shell-guard' },
  { name: 'run_command', arguments: { command: 'git log -1' }, pack: 'approvals' },
  { name: 'read_file', arguments: { path: 'notes.txt' }, pack: undefined },
  { name: 'list_files', arguments: { path: '' }, pack: 'budgets' },
];
/** Names the address that another pack refuses. */
const request = 'Fetch http://169.254.169.254/latest/meta-data';
const script = {
  turns: [...calls.map(({ name, arguments: input }) => ({ calls: [{ name, arguments: input }] })), { text: 'Done.' }],
};

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), ['holdfast', '@holdfast/registry', ...packs]);
  for (const [name, argument] of [
    ['fetch_url', 'url'],
    ['run_command', 'command'],
    ['send_mail', 'to'],
  ] as const) {
    await project.write(`plugins/${name}.mjs`, toolFile(name, argument));
  }
  await project.write('.env', 'TOKEN=1\n');
  await project.write('notes.txt', 'Nothing secret.\n');
  await project.write('script.json', JSON.stringify(script));
  await holdfast('trust');
});

afterAll(() => project.remove());

function holdfast(...words: readonly string[]): Promise<Ended> {
  return project.run(join(project.folder, 'node_modules/.bin/holdfast'), words);
}

test('they are installed, and none is in force before it is named', async () => {
  const { status, output } = await holdfast('plugins', '--json');
  expect(status).toBe(0);
  expect(JSON.parse(output)).toMatchObject(packs.map((name) => ({ package: name, kind: 'pack' })));
  expect(await holdfast('list', '--tree')).not.toMatchObject({ output: expect.stringContaining('guard') });
});

test('each of them denies what it is against, and lets through the rest', async () => {
  await project.write(
    'holdfast.config.ts',
    config(`{ pack: '@holdfast/pack-approvals', config: { always: [{ runs: 'git log' }] } },
    { pack: '@holdfast/pack-budgets', config: { maxCalls: 1 } },`),
  );
  expect(await holdfast('run', request, '--model', 'script:script.json')).toMatchObject({
    status: 4,
    output: expect.stringContaining('new      holdfast.config.ts'),
  });
  expect(await holdfast('trust')).toMatchObject({ status: 0 });
  const { status, output } = await holdfast('run', request, '--model', 'script:script.json', '--json', '--unattended');
  expect(status).toBe(0);
  const events = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ended = events.filter(({ type }) => type === 'tool-call-end');
  expect(
    ended.map(({ name, outcome, decisions }) => ({
      name,
      kind: outcome.kind,
      against: decisions
        .filter((decision: { readonly type: string }) => decision.type !== 'allow')
        .map((decision: { readonly policy: string }) => decision.policy),
    })),
  ).toEqual(
    calls.map(({ name, pack }) => ({
      name,
      kind: pack === undefined ? 'ok' : 'denied',
      against: pack === undefined ? [] : [expect.stringContaining(`host/${pack}-`)],
    })),
  );
});

test('what a stricter preset would have said is told from the log', async () => {
  const { status, output } = await holdfast(
    ...['policy', 'diff', '--pack', '@holdfast/pack-network', '--from', 'observe', '--to', 'strict', '--json'],
  );
  expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('tightened') });
});
