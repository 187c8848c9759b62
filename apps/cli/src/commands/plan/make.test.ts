import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from '../../testing/test-host.ts';
import { planText, planTools } from '../../testing/test-plans.ts';
import { type Ended, runHere, runMain, trustHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

function inFolder({ path }: TestFolder, options: TestHostOptions = {}) {
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path, ...options });
}

const good = planText({ id: 1, tool: 'act', inputs: { say: 'hello' } });
const bad = planText({ id: 1, tool: 'act', inputs: { shout: 'hello' } }, { id: 2, tool: 'gone', depends_on: [1] });

/** A model's script of answers. */
function answers(...texts: readonly string[]): Readonly<Record<string, string>> {
  return { ...planTools, 'script.json': JSON.stringify({ turns: texts.map((text) => ({ text })) }) };
}

const byModel = ['--model', 'script:script.json'];

test('a model that needs two more rounds: reports each on stderr and shows the plan', async () => {
  const worse = planText({ id: 1, tool: 'act', depends_on: [1] });
  await using folder = await createFolder(answers(`Sure!\n\`\`\`json\n${bad}\n\`\`\``, worse, `Here it is: ${good}`));
  const made = await inFolder(folder)('plan', 'Say hello', ...byModel);
  expect(made.exitCode).toBe(0);
  expect(made.stderr.split('\n')).toEqual([
    'asking script:script.json for a plan',
    expect.stringMatching(/^the plan of script:script\.json has \d problems: asking again$/),
    'the plan of script:script.json has 1 problem: asking again',
    '',
  ]);
  expect(made.stdout).toMatch(/^script:script\.json · 1 node · 3 rounds/);
  expect(made.stdout).toContain('say: "hello"');
});

test('a model that never returns a valid plan: lists every problem, with exit code 1', async () => {
  await using folder = await createFolder(answers(bad, bad));
  const made = await inFolder(folder)('plan', 'Say hello', ...byModel);
  expect(made).toMatchObject({ exitCode: 1, stdout: '' });
  expect(made.stderr).toContain('(plan.invalid)');
  expect(made.stderr).toMatch(/^plan\.invalid: input\.unknown +nodes\[0\]\.inputs\.shout /m);
  expect(made.stderr).toMatch(/^plan\.tool\.unknown +nodes\[1\]\.tool /m);
  const json = await inFolder(folder)('plan', 'Say hello', ...byModel, '--json');
  expect(JSON.parse(json.stdout)).toEqual({
    version: 1,
    status: 'error',
    error: expect.stringContaining('same answer'),
  });
  expect(findIssues(await readSchema('plan'), JSON.parse(json.stdout))).toEqual([]);
  expect(await readdir(folder.path)).not.toContain('.holdfast');
});

test.each([
  { text: '{"status":"error","error":"No tool sends mail."}', code: 'plan.declined', says: 'No tool sends mail.' },
  { text: 'I cannot do that.', code: 'planner.no_json', says: 'returned no JSON' },
])('a model that answers $text: $code', async ({ text, code, says }) => {
  await using folder = await createFolder(answers(text));
  const made = await inFolder(folder)('plan', 'Send a mail', ...byModel, '--run');
  expect(made).toMatchObject({ exitCode: 1, stdout: '' });
  expect(made.stderr).toContain(says);
  expect(made.stderr).toContain(`(${code})`);
  expect(await readdir(folder.path)).not.toContain('.holdfast');
});

test('a request that the rules cannot plan: an error, and in JSON a plan with the reason', async () => {
  await using folder = await createFolder();
  const holdfast = inFolder(folder);
  expect(await holdfast('plan', 'Send a mail to everybody')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('(plan.declined)'),
  });
  const { stdout } = await holdfast('plan', 'Send a mail to everybody', '--json');
  await folder.write('none.json', stdout);
  const checked = await holdfast('plan', 'check', 'none.json');
  expect(checked).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('declined  No plan: ') });
  expect(JSON.parse((await holdfast('plan', 'check', 'none.json', '--json')).stdout)).toMatchObject({
    valid: false,
    error: expect.stringContaining('declined the request'),
  });
  expect(await holdfast('plan', 'run', 'none.json')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('No plan:'),
  });
});

test('the terminal shows progress while a model is asked', async () => {
  await using folder = await createFolder(answers(good));
  const made = await inFolder(folder, { terminals: ['stderr', 'stdout'] })('plan', 'Say hello', ...byModel);
  expect(made.stderr).toContain('asking script:script.json for a plan');
  expect(made.stderr).not.toContain('asking again');
  expect(made.stdout).not.toContain('asking');
});

test('a file is replaced only with --force, and --digest also applies to compiled plans', async () => {
  await using folder = await createFolder({ 'a.txt': 'a\n', 'p.json': 'mine' });
  const holdfast = inFolder(folder);
  const read = (): Promise<string> => readFile(join(folder.path, 'p.json'), 'utf8');
  const taken = await holdfast('plan', 'Read a.txt', '--output', 'p.json');
  expect(taken).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('`--force`') });
  expect(await read()).toBe('mine');
  expect((await holdfast('plan', 'Read a.txt', '--output', 'p.json', '--force')).exitCode).toBe(0);
  expect(JSON.parse(await read())).toMatchObject({ version: 1, status: 'success' });
  const other = await holdfast('plan', 'Read a.txt', '--run', '--digest', '0'.repeat(16));
  expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(plan.mismatch)') });
  expect(await readdir(folder.path)).not.toContain('.holdfast');
});

const place = { 'p.json': good, 'folder/a.txt': '', 'bad.json': bad, 'text.json': 'no plan', ...planTools };
test.each([
  { argv: ['plan'], exitCode: 2, says: "missing required argument 'request'" },
  { argv: ['plan', ' '], exitCode: 2, says: '(usage.invalid: request_empty)' },
  { argv: ['plan', 'x', '--json', '--mermaid'], exitCode: 2, says: 'cannot be used with' },
  { argv: ['plan', 'x', '--mermaid', '--run'], exitCode: 2, says: 'cannot be used with' },
  { argv: ['plan', 'x', '--tools', 'gone'], exitCode: 2, says: '(usage.invalid: folder_missing)' },
  { argv: ['plan', 'x', '--workspace', 'gone'], exitCode: 2, says: '(usage.invalid: workspace_missing)' },
  { argv: ['plan', 'x', '--model', 'gone'], exitCode: 2, says: '(usage.invalid: model_unknown)' },
  { argv: ['plan', 'x', '--output', 'folder'], exitCode: 2, says: '(usage.invalid: file_exists)' },
  { argv: ['plan', 'x', '--output', 'no/p.json'], exitCode: 2, says: '(usage.invalid: folder_missing)' },
  { argv: ['plan', 'x', '--yes'], exitCode: 2, says: '`--yes` only applies to running a plan' },
  { argv: ['plan', 'x', '--max-calls', '3'], exitCode: 2, says: '`--max-calls` only applies to running a plan' },
  { argv: ['plan', 'x', '--concurrency', '0'], exitCode: 2, says: 'Expected a positive integer' },
  { argv: ['plan', 'x', '--digest', '12345'], exitCode: 2, says: '16 to 64 hexadecimal digits' },
  { argv: ['plan', 'run'], exitCode: 2, says: "missing required argument 'file'" },
  { argv: ['plan', 'run', 'gone.json'], exitCode: 2, says: '(usage.invalid: plan_unreadable)' },
  { argv: ['plan', 'run', 'folder'], exitCode: 2, says: 'is a folder' },
  { argv: ['plan', 'run', 'text.json'], exitCode: 1, says: 'plan.invalid: json.invalid' },
  { argv: ['plan', 'run', 'bad.json'], exitCode: 1, says: 'plan.tool.unknown' },
  { argv: ['plan', 'run', 'p.json', '--digest', 'f'.repeat(64)], exitCode: 1, says: '(plan.mismatch)' },
  { argv: ['plan', 'run', 'p.json', '--digest', `${'f'.repeat(63)}x`], exitCode: 2, says: 'hexadecimal' },
  { argv: ['plan', 'run', 'p.json', '--model', 'offline'], exitCode: 2, says: "unknown option '--model'" },
  { argv: ['plan', 'run', 'p.json', '--allow', 'gone'], exitCode: 2, says: '(usage.invalid: tool_unknown)' },
  { argv: ['plan', 'run', 'p.json', '--yes', '--suspend'], exitCode: 2, says: 'cannot be used with' },
  { argv: ['plan', 'run', 'p.json', '--locked'], exitCode: 2, says: '(usage.invalid: lock_missing)' },
  { argv: ['plan', '--json', 'run', 'p.json'], exitCode: 2, says: 'put `--json` after the subcommand' },
  {
    argv: ['plan', '--workspace', '.', 'check', 'p.json'],
    exitCode: 2,
    says: 'put `--workspace` after the subcommand',
  },
  { argv: ['plan', 'check', 'gone.json'], exitCode: 2, says: '(usage.invalid: plan_unreadable)' },
  { argv: ['plan', 'check', 'p.json', 'more'], exitCode: 2, says: 'too many arguments' },
])('$argv: $exitCode, $says', async ({ argv, exitCode, says }) => {
  await using folder = await createFolder(place);
  const ended = await inFolder(folder)(...argv);
  expect(ended).toMatchObject({ exitCode, stderr: expect.stringContaining(says) });
  // Nothing has started.
  expect(await readdir(folder.path)).not.toContain('.holdfast');
});

test('a request may begin with "check" or "run"', async () => {
  await using folder = await createFolder({ 'a.txt': 'a\n' });
  expect((await inFolder(folder)('plan', 'read a.txt')).exitCode).toBe(0);
  expect((await inFolder(folder)('plan', 'run everything')).stderr).toContain('(plan.declined)');
});

test('a plan from a pipe is checked and run without questions', async () => {
  await using folder = await createFolder({ ...planTools, 'w.json': planText({ id: 1, tool: 'wipe' }) });
  const checked = await runMain(['plan', 'check', '-'], { folder: folder.path, input: good });
  expect(checked).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringMatching(/^valid {2}1 node\n/) });
  const wipe = await readFile(join(folder.path, 'w.json'), 'utf8');
  const ran = await runMain(['plan', 'run', '-'], { folder: folder.path, input: wipe });
  expect(ran).toMatchObject({ exitCode: 1, stderr: '', stdout: expect.stringContaining('Denied without asking') });
}, 60_000);

const slow = {
  ...planTools,
  'slow.ts': `import { definePlugin } from '${import.meta.resolve('@holdfast/core')}';
export default definePlugin({
  name: 'slow', version: '1.0.0', description: 'Slow.', holdfast: '>=0.0.0',
  models: [{ name: 'one', description: 'Slow.', create: () => ({ id: 'slow', async *stream({ signal }) {
    await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
  } }) }],
});
`,
  'holdfast.config.ts': "export default { plugins: ['./slow.ts'], model: 'slow/one' };",
};

test('a slow model is stopped at the time limit', async () => {
  await using folder = await createFolder(slow);
  const ended = await inFolder(folder)('plan', 'x', '--timeout', '0.1');
  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(plan.aborted: planner)') });
  expect(ended.stderr).toContain('--timeout');
});

test('Ctrl-C while a model is asked: 130, and nothing has started', async () => {
  await using folder = await createFolder(slow);
  await trustHere(folder.path);
  const { host, stderr, interrupt } = createTestHost({ directory: folder.path, environment: { NO_COLOR: '1' } });
  host.stderr.on('data', () => {
    if (stderr().includes('asking slow')) interrupt('ctrl-c');
  });
  expect(await runProgram(['plan', 'x', '--run'], host, '0')).toBe(130);
  expect(await readdir(folder.path)).not.toContain('.holdfast');
});
