import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { claudeLines, codexLines, type TestCommand, toLines, toTranscripts } from '../../audit/test-transcripts.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

/** A home with these transcripts, and a workspace with a `.env`. */
async function createHome(toFiles: (workspace: string) => Readonly<Record<string, string>>): Promise<TestFolder> {
  const folder = await createFolder({
    'work/.git/HEAD': '',
    'work/.env': 'KEY=x',
    'work/.gitignore': '.env',
    'home/x': '',
  });
  for (const [path, text] of Object.entries(toFiles(join(folder.path, 'work')))) {
    const file = join(folder.path, 'home', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return folder;
}

function audit({ path }: TestFolder, ...argv: readonly string[]): Promise<Ended> {
  const environment = { HOME: join(path, 'home'), HOLDFAST_HOME: join(path, 'home', 'own'), NO_COLOR: '1' };
  // The tests' clock stands before the files were written.
  return runHere(['audit', ...argv], { directory: path, environment });
}

const commands: readonly TestCommand[] = [
  { command: 'cat .env' },
  { command: 'ls' },
  { command: 'git push' },
  { command: 'npm test' },
  { command: 'git push' },
  { command: 'npm install left-pad' },
];

test('the transcripts of all agents meet the policies of the guard, in order', async () => {
  await using folder = await createHome((workspace) => toTranscripts(workspace, commands));
  const { exitCode, stdout, stderr } = await audit(folder);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain('24 calls of 4 sessions, 2026-05-17 to 2026-05-17: 8 denied, 4 asked, 12 let through.');
  for (const agent of ['claude-code', 'codex', 'gemini', 'pi'])
    expect(stdout).toContain(`${agent}: 6 calls of 1 session, 2 denied, 1 asked`);
  expect(stdout).toMatch(/denied +4 +filesystem-guard-secret-files\n +cat \.env \(4\)/);
  expect(stdout).toMatch(/denied +4 +release-order-checks-first\n +git push \(4\)/);
  expect(stdout).toMatch(/asked +4 +\S+\n +npm install left-pad \(4\)/);
  expect(stdout).not.toContain('asked you about');
  // It writes nothing by itself.
  expect(await readdir(folder.path, { recursive: true })).not.toContain('home/own');
});

test('a report does not depend on how busy the machine is', async () => {
  await using folder = await createHome((workspace) => toTranscripts(workspace, [{ command: 'grep -rn token src' }]));
  await mkdir(join(folder.path, 'work/src'));
  for (let index = 0; index < 300; index += 1) await writeFile(join(folder.path, 'work/src', `${index}.ts`), '');
  let now = 0;
  using _ = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1000;
    return now;
  });
  expect((await audit(folder, '--agent', 'pi')).stdout).toContain('0 denied, 0 asked, 1 let through');
});

test('--agent, --days and --json', async () => {
  await using folder = await createHome((workspace) => toTranscripts(workspace, commands));
  const report = JSON.parse((await audit(folder, '--agent', 'pi', '--json')).stdout);
  expect(findIssues(await readSchema('audit'), report)).toEqual([]);
  expect(report).toMatchObject({ calls: 6, denied: 2, asked: 1, allowed: 3, agents: [{ agent: 'pi' }], unread: [] });
  expect(await audit(folder, '--agent', 'cursor')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('agent_unknown'),
  });
  expect((await audit(folder, '--agent', 'pi', '--html', 'home/x')).stderr).toContain('file_exists');
});

test('questions that the transcripts show, and how many need not have been asked', async () => {
  const asking: readonly TestCommand[] = [
    { command: 'ls', ends: 'no' },
    { command: 'npm install left-pad', ends: 'no' },
    { command: 'pwd' },
  ];
  await using folder = await createHome((workspace) => ({
    '.claude/projects/-w/s1.jsonl': toLines(claudeLines(workspace, asking)),
    '.codex/sessions/rollout-1.jsonl': toLines(codexLines(workspace, asking)),
  }));
  expect((await audit(folder)).stdout).toContain(
    'asked you about 4 calls that the transcripts show; the guard would have let 2 of them through.',
  );
  // An agent that never asks has asked about none.
  await writeFile(
    join(folder.path, 'home/.codex/sessions/rollout-1.jsonl'),
    toLines(codexLines(join(folder.path, 'work'), [{ command: 'ls', ends: 'no' }], 'never')),
  );
  expect(JSON.parse((await audit(folder, '--agent', 'codex', '--json')).stdout).questions).toBeUndefined();
});

test('--suggest names checks that ran before a denied push, and what they would change', async () => {
  const own: readonly TestCommand[] = [
    { command: './run test' },
    { command: 'git push' },
    { command: 'make lint; true' },
    { command: './run check', ends: 1 },
    { command: 'git push' },
  ];
  await using folder = await createHome((workspace) => ({
    '.claude/projects/-w/s1.jsonl': toLines(claudeLines(workspace, own)),
  }));
  const { stdout } = await audit(folder, '--suggest');
  expect(stdout).toContain('"./run test"');
  expect(stdout).not.toContain('./run check"');
  const report = JSON.parse((await audit(folder, '--suggest', '--json')).stdout);
  expect(findIssues(await readSchema('audit'), report)).toEqual([]);
  expect(report.suggested.checks).toEqual(['./run test']);
  expect(report.suggested.denied).toBeLessThan(report.denied);
  await writeFile(
    join(folder.path, 'home/.claude/projects/-w/s1.jsonl'),
    toLines(claudeLines(join(folder.path, 'work'), [{ command: 'ls' }])),
  );
  expect((await audit(folder, '--suggest')).stdout).toContain('Nothing to suggest');
});

test('secrets in what is quoted are masked, and markup stays text', async () => {
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  const hostile = `cat .env '<img src=x onerror=alert(1)>' ${token} \u001b[31m`;
  await using folder = await createHome((workspace) => ({
    '.claude/projects/-w/s1.jsonl': toLines(claudeLines(workspace, [{ command: hostile }])),
  }));
  const { stdout } = await audit(folder);
  expect(stdout).toContain('cat .env');
  expect(stdout).not.toContain(token);
  expect(stdout).not.toContain('\u001b');
  expect((await audit(folder, '--html', 'audit.html')).stdout).toBe('Written: audit.html\n');
  const page = await readFile(join(folder.path, 'audit.html'), 'utf8');
  expect(page).toContain('img src=x');
  expect(page).not.toContain('<img');
  expect(page).not.toContain(token);
  expect(page).toContain("default-src 'none'");
});

test.each<[string, string, number]>([
  ['a cut line', '{"type":"assistant","mess', 1],
  ['no JSON', 'hello\n\u0000\u0001', 2],
  ['lists and numbers', '[]\n7\nnull', 3],
  ['depth', `{"message":${'['.repeat(5000)}${']'.repeat(5000)}}`, 1],
  ['a prototype', '{"__proto__":{"type":"assistant"},"type":"assistant"}', 1],
  [
    'fields of other types',
    toLines([
      { type: 'assistant', message: { content: [{ type: 'tool_use', id: 7, name: {}, input: [] }, null, 'x'] } },
      { type: 'user', message: { content: { a: 1 } } },
    ]),
    0,
  ],
  [
    'a result without a call, and a call twice',
    toLines([
      ...claudeLines('/gone', [{ command: 'ls' }]).slice(-1),
      ...claudeLines('/gone', [{ command: 'ls' }]),
      ...claudeLines('/gone', [{ command: 'ls' }]),
    ]),
    0,
  ],
  ['an empty file', '', 0],
])('a hostile transcript: %s', async (_, text, unread) => {
  await using folder = await createHome((workspace) => ({
    '.claude/projects/-w/bad.jsonl': text,
    '.claude/projects/-w/good.jsonl': toLines(claudeLines(workspace, [{ command: 'cat .env' }])).replaceAll(
      '"s1"',
      '"s2"',
    ),
  }));
  const { exitCode, stdout, stderr } = await audit(folder, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const report = JSON.parse(stdout);
  expect(report.denied).toBe(1);
  expect(report.unread.map(({ lines }: { lines: number }) => lines)).toEqual(unread === 0 ? [] : [unread]);
});

test('a home without transcripts says where it looked', async () => {
  await using folder = await createHome(() => ({}));
  expect((await audit(folder)).stdout).toContain(
    'No transcripts of the last 30 days in ~/.claude/projects, ~/.codex/sessions',
  );
});
