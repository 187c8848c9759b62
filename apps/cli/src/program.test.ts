import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { createFolder } from './testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from './testing/test-host.ts';

async function run(argv: readonly string[], options: TestHostOptions = {}) {
  const { host, stdout, stderr } = createTestHost(options);
  const exitCode = await runProgram(argv, host, '1.2.3');
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

test.each([
  { argv: ['--help'], shown: 'Exit codes:' },
  { argv: ['run', '--help'], shown: '$ holdfast run "List every TODO comment' },
  { argv: ['plan', '--help'], shown: '$ holdfast plan "Read README.md and write it to copy.md" --run' },
  {
    argv: ['plan', '--help'],
    shown: 'Usage: holdfast plan [options] <request>\n       holdfast plan run [options] <file>',
  },
  { argv: ['plan', 'run', '--help'], shown: '$ holdfast plan run copy.plan.json --suspend' },
  { argv: ['plan', 'check', '--help'], shown: '$ holdfast plan check copy.plan.json' },
  { argv: ['trace', '--help'], shown: '$ holdfast trace --html trace.html' },
  { argv: ['show', '--help'], shown: '$ holdfast show' },
  { argv: ['run', '--help'], shown: '--max-tokens 100000' },
  { argv: ['why', '--help'], shown: 'Usage: holdfast why [options] [id] <call>' },
  { argv: ['why', '--help'], shown: '$ holdfast why call-2' },
  { argv: ['replay', '--help'], shown: '$ holdfast replay 20260517-093012345-k3x9 --at 12' },
  { argv: ['run', '--help'], shown: '--suspend' },
  { argv: ['--help'], shown: '3    run, plan run, resume: suspended until a person answers' },
  { argv: ['pending', '--help'], shown: '$ holdfast pending 20260517-093012345-k3x9' },
  { argv: ['approve', '--help'], shown: 'Usage: holdfast approve [options] <id> <call...>' },
  { argv: ['deny', '--help'], shown: '--reason <text>' },
  { argv: ['resume', '--help'], shown: '$ holdfast resume 20260517-093012345-k3x9 --suspend' },
  { argv: ['resolve', '--help'], shown: '--value <json>' },
  { argv: ['grants', '--help'], shown: '--withdraw delete_files' },
  { argv: ['list', '--help'], shown: '$ holdfast list --tools' },
  { argv: ['check', '--help'], shown: '$ holdfast check plugins --strict' },
  { argv: ['lock', '--help'], shown: '$ holdfast lock --accept make_slug' },
  { argv: ['overrides', '--help'], shown: '$ holdfast overrides seed src/prompt.ts' },
  { argv: ['model', 'pull', '--help'], shown: '$ holdfast model pull qwen3-0.6b' },
  { argv: ['model', 'list', '--help'], shown: '$ holdfast model list --json' },
  { argv: ['doctor', '--help'], shown: '$ holdfast doctor --workspace' },
  { argv: ['help', 'run'], shown: '--max-rounds <n>' },
  { argv: ['--version'], shown: '1.2.3' },
])('$argv prints `$shown` on stdout', async ({ argv, shown }) => {
  const { exitCode, stdout, stderr } = await run(argv);
  expect(stdout).toContain(shown);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});

test.each([
  { argv: [], says: 'Usage: holdfast' },
  { argv: ['ran', 'x'], says: "unknown command 'ran'" },
  { argv: ['run'], says: "missing required argument 'request'" },
  { argv: ['run', ' '], says: 'usage.invalid: request_empty' },
  { argv: ['run', 'Count', 'the', 'words'], says: "put the request in quotes: holdfast run 'Count the words'\n" },
  {
    argv: ['run', '--tools', 'my tools', 'Count', 'the', '--json', "user's", 'words', '--max-calls=5'],
    says: `put the request in quotes: holdfast run 'Count the user'\\''s words' --tools 'my tools' --json --max-calls=5\n`,
  },
  { argv: ['run', '--yes', '--', 'Read', '-x'], says: "put the request in quotes: holdfast run 'Read -x' --yes\n" },
  { argv: ['plan', 'Copy', 'a.txt', '--run'], says: "put the request in quotes: holdfast plan 'Copy a.txt' --run\n" },
  { argv: ['plan', 'run', 'the', 'tests'], says: "put a request in quotes: holdfast plan 'run the tests'\n" },
  { argv: ['run', 'two', 'words', '--jsn'], says: 'Did you mean --json?' },
  { argv: ['run', 'x', '--jsn'], says: 'Did you mean --json?' },
  { argv: ['run', 'x', '--yes', '--unattended'], says: 'cannot be used with' },
  { argv: ['run', 'x', '--yes', '--suspend'], says: 'cannot be used with' },
  { argv: ['run', 'x', '--suspend', '--unattended'], says: 'cannot be used with' },
  { argv: ['run', 'x', '--approval-timeout', '0'], says: 'a positive number of seconds' },
  { argv: ['pending', 'gone'], says: 'usage.invalid: session_unknown' },
  { argv: ['approve', 'gone'], says: "missing required argument 'call'" },
  { argv: ['deny', 'gone', 'call_1_0'], says: 'usage.invalid: session_unknown' },
  { argv: ['resolve', 'gone', 'call_1_0', '--done'], says: 'usage.invalid: session_unknown' },
  { argv: ['resolve', 'gone', 'call_1_0'], says: 'usage.invalid: resolution_missing' },
  { argv: ['grants'], says: 'usage.invalid: session_unknown' },
  { argv: ['run', 'x', '--max-rounds', '0'], says: 'a positive integer' },
  { argv: ['run', 'x', '--max-rounds', 'many'], says: 'a positive integer' },
  { argv: ['run', 'x', '--max-calls', '0'], says: 'a positive integer' },
  { argv: ['run', 'x', '--max-calls', '1.5'], says: 'a positive integer' },
  { argv: ['run', 'x', '--max-tokens', 'all'], says: 'a positive integer' },
  { argv: ['run', 'x', '--max-tokens', ''], says: 'a positive integer' },
  { argv: ['why'], says: "missing required argument 'call'" },
  { argv: ['why', 'a', 'b', 'c'], says: 'too many arguments' },
  { argv: ['why', 'call_1_0'], says: 'usage.invalid: session_unknown' },
  { argv: ['why', 'gone', 'call_1_0'], says: 'usage.invalid: session_unknown' },
  { argv: ['replay'], says: 'usage.invalid: session_unknown' },
  { argv: ['replay', '--at', '-1'], says: 'a record number, 0 or greater' },
  { argv: ['replay', '--at', ''], says: 'a record number, 0 or greater' },
  { argv: ['run', 'x', '--timeout', '-1'], says: 'a positive number of seconds' },
  { argv: ['run', 'x', '--order', 'one'], says: 'two or more tool names' },
  { argv: ['run', 'x', '--workspace', 'gone'], says: 'usage.invalid: workspace_missing' },
  { argv: ['run', 'x', '--tools', 'gone'], says: 'usage.invalid: folder_missing' },
  { argv: ['run', 'x', '--tools', '.'], says: 'usage.invalid: tools_around_workspace' },
  { argv: ['run', 'x', '--tools', '..'], says: 'usage.invalid: tools_around_workspace' },
  { argv: ['run', 'x', '--model', 'gpt'], says: 'usage.invalid: model_unknown' },
  { argv: ['run', 'x', '--model', 'script:'], says: 'usage.invalid: model_unknown' },
  { argv: ['run', 'x', '--model', 'script:gone.json'], says: 'usage.invalid: script_unreadable' },
  { argv: ['run', 'x', '--allow', 'delete_fils'], says: 'usage.invalid: tool_unknown' },
  { argv: ['run', 'x', '--order', 'read_file,__proto__'], says: 'usage.invalid: tool_unknown' },
  { argv: ['check', 'gone'], says: 'usage.invalid: folder_missing' },
  { argv: ['lock'], says: 'usage.invalid: folder_missing' },
  { argv: ['lock', 'x'], says: 'too many arguments' },
  { argv: ['overrides'], says: "missing required argument 'action'" },
  { argv: ['overrides', 'seed'], says: "missing required argument 'module'" },
  { argv: ['overrides', 'frob', 'prompt.ts'], says: 'Allowed choices are seed, status, diff' },
  { argv: ['overrides', 'seed', 'gone.ts'], says: 'usage.invalid: module_missing' },
  { argv: ['overrides', 'diff', '.'], says: 'usage.invalid: module_missing' },
  { argv: ['list', '--tools', 'gone'], says: 'usage.invalid: folder_missing' },
  { argv: ['show', 'gone'], says: 'usage.invalid: session_unknown' },
  { argv: ['show'], says: 'usage.invalid: session_unknown' },
])('$argv is a usage error: $says', async ({ argv, says }) => {
  await using folder = await createFolder();
  const { exitCode, stdout, stderr } = await run(argv, { directory: folder.path });
  expect(stderr).toContain(says);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
});

const groups = {
  'Run:': ['run', 'resume'],
  'Answer:': ['pending', 'approve', 'deny', 'resolve', 'grants', 'undo'],
  'Guard:': ['guard', 'demo', 'audit', 'mcp', 'serve'],
  'Look:': ['studio', 'show', 'why', 'replay', 'verify', 'trace', 'export'],
  'Tools:': ['list', 'check', 'try', 'new', 'lock'],
  'Plan:': ['plan'],
  'Policies:': ['policy', 'pack'],
  'Set up:': ['config', 'plugins', 'explain', 'doctor', 'trust', 'overrides', 'model'],
};

test('help lists the commands by group, with descriptions', async () => {
  const { stdout } = await run(['--help']);
  const parts = stdout.split(/\n(?=[A-Z][\w ]*:\n)/).slice(2, -2);
  const listed = parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    return [heading, lines.flatMap((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? [])];
  });
  expect(Object.fromEntries(listed)).toEqual(groups);
  for (const said of [
    /resume .* {2}resume a suspended or interrupted run$/m,
    /approve .* {2}approve a pending call$/m,
    /deny .* {2}reject a pending call$/m,
    /plan .* {2}compile a request into a plan;/m,
  ])
    expect(stdout).toMatch(said);
});

test('help names the command of a checkout', async () => {
  const { host, stdout } = createTestHost();
  await runProgram(['--help'], { ...host, command: 'npm run holdfast --' }, '1.2.3');
  expect(stdout()).toContain('In this checkout, run `npm run holdfast --` instead of `holdfast`.');
  expect((await run(['--help'])).stdout).not.toContain('In this checkout');
});

test('an invalid script is an error with its path, without a stack', async () => {
  await using folder = await createFolder({ 'script.json': '{"turns":[{"text":1}]}' });
  const argv = ['run', 'x', '--model', 'script:script.json'];
  const { exitCode, stderr } = await run(argv, { directory: folder.path });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('`turns[0].text` in `script.json`');
  expect(stderr).not.toContain('    at ');
  const debug = await run(argv, { directory: folder.path, environment: { HOLDFAST_DEBUG: '1' } });
  expect(debug.stderr).toContain('    at ');
});

test('control characters from the command line are escaped', async () => {
  const { stderr } = await run(['run', 'x', '--a\x1b[2J']);
  expect(stderr).toContain('\\x1b[2J');
  expect(stderr).not.toContain('\x1b');
});
