import { existsSync, readFileSync } from 'node:fs';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, type GuardVerdict } from '@holdfast/guard';
import { claudeCode } from '@holdfast/guard/agents';
import { createSession } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { codingPolicies } from './coding.ts';

// Six gaps that a trial of the packs behind an agent's hook showed, each through the whole preset, or by the tests that close it.

const files = { '.env': 'TOKEN=tulip\n', 'package.json': '{}', 'README.md': '', 'src/a.ts': '', '.git/HEAD': '' };

function open({ path }: TestFolder): (name: string, input: Readonly<Record<string, string>>) => Promise<GuardVerdict> {
  const view = { folder: path, workspace: path, home: '/home/u', disk: nodeDisk() };
  const facts = createFacts({ describers: claudeCode.describers, view });
  const policies = codingPolicies('claude-code', { environment: { HOME: '/home/u' }, directory: path });
  // Each call is the first of its session.
  return (name, input) =>
    createGuard({ session: createSession(), policies, facts }).before({ id: '1', name, input, cwd: path });
}

describe('G1: what a shell command touches is seen', () => {
  test.each([
    'cat .env',
    'head -1 ./.env',
    'grep TOKEN .env',
    'base64 < .env',
    'find . -name .env -exec cat {} +',
    'cat .e*',
    'git diff HEAD -- .env',
    'cp .env /tmp/x',
    'source .env',
    `python3 -c "open('.env')"`,
  ])('%s', async (command) => {
    await using folder = await createFolder(files);
    expect((await open(folder)('Bash', { command })).type).not.toBe('allow');
  });
});

describe('G4: a path is a path of the machine', () => {
  test.each([
    ['Read', { file_path: '/etc/passwd' }],
    ['Read', { file_path: '../../../../../../etc/passwd' }],
    ['Write', { file_path: '/etc/hosts', content: '' }],
    ['Bash', { command: 'cat /etc/passwd' }],
  ] as const)('%s %j', async (name, input) => {
    await using folder = await createFolder(files);
    expect((await open(folder)(name, input)).type).not.toBe('allow');
  });
});

describe("G5: a developer's day is not interrupted", () => {
  test.each(['npm test', 'git status', 'ls', 'rg TODO', 'npm ci', 'git diff', 'cat README.md', 'git commit -m "x"'])(
    '%s',
    async (command) => {
      const { '.env': _, ...harmless } = files;
      await using folder = await createFolder(harmless);
      expect(await open(folder)('Bash', { command })).toEqual({ type: 'allow' });
    },
  );

  const lines = new URL('../../../../../shared/data/commands.jsonl', import.meta.url);
  test.skipIf(!existsSync(lines))(
    'of the real lines at most one in twenty is denied or asked about by the whole preset (skipped where they are missing)',
    async () => {
      const { '.env': _, ...harmless } = files;
      await using folder = await createFolder(harmless);
      const decide = open(folder);
      const read = readFileSync(lines, 'utf8').trimEnd().split('\n');
      const commands = read.map((line) => JSON.parse(line) as { readonly command: string; readonly maybe?: boolean });
      const plain = commands.filter(({ maybe }) => maybe !== true);
      const stopped: string[] = [];
      for (const { command } of plain) if ((await decide('Bash', { command })).type !== 'allow') stopped.push(command);
      expect(plain.length).toBeGreaterThan(400);
      expect(stopped.length / plain.length).toBeLessThan(0.05);
    },
    60_000,
  );
});

const decide = 'packages/guard/src/decide/guard.test.ts';
const hook = 'apps/cli/src/guard/hook.test.ts';
const told = 'packages/guard/src/agents/agents.test.ts';

/** The tests that close the other gaps, and parts of these. */
test.each<[gap: string, file: string, title: string]>([
  ['G2: success is what was reported', decide, 'by a reported success, in another process as well'],
  ['G2: no report is in doubt', decide, 'not by a call that was never reported: the next prompt ends it'],
  [
    'G2: an answer in the agent ends a question',
    decide,
    "that the agent asks its own person is answered by the call's",
  ],
  ['G2: no exit code', 'apps/cli/src/guard/runs.test.ts', 'a command that `guard run` has run pays into an order rule'],
  ['G3: parallel hooks', hook, 'hooks at once, each told twice, take turns: none is denied'],
  ['G3: parallel calls', decide, 'one call is one decision: a hundred calls, each told twice at once'],
  ['G5: an allow says nothing', told, 'gets no output for an allowed call, so its own prompts stay on'],
  ['G6: a tool that is not there', decide, 'a policy that names a tool the agent does not have stays in force'],
])('%s: %s has "%s"', (_, file, title) => {
  const text = readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
  expect(text).toMatch(new RegExp(`\\btest\\(\\s*['"]${title.replaceAll(/[.*+?^$()[\]{}|\\]/g, String.raw`\$&`)}`));
});
