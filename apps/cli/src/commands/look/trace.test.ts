import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { writeLog } from '../../testing/test-log.ts';
import { planText, planTools } from '../../testing/test-plans.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { findLogFolder } from '../../workspace/session-logs.ts';

function inFolder({ path }: TestFolder) {
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path });
}

const files = {
  ...planTools,
  'p.json': planText(
    { id: 'first', tool: 'act', inputs: { fail: 'It broke.' }, on_fail: 'continue' },
    { id: 'last', tool: 'act', inputs: { say: 'hello' }, depends_on: ['first'] },
  ),
};

test('uses the newest session that ran a plan', async () => {
  await using folder = await createFolder(files);
  const holdfast = inFolder(folder);
  await holdfast('plan', 'run', 'p.json');
  await writeLog(folder.path, '29990101-000000000-zzzz', []);
  const { exitCode, stdout, stderr } = await holdfast('trace');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.split('\n').slice(3, 6)).toEqual([
    expect.stringMatching(/^node +tool +kind +attempts +took +why$/),
    expect.stringMatching(/^first +act +failed +1 .* It broke\. \(tool\.threw\)$/),
    expect.stringMatching(/^last +act +ok +1 /),
  ]);
  expect(stdout).toContain('partial: 1 of 2 nodes succeeded');
  expect(stdout).toMatch(/Output:\n {2}\{\n {4}"said": "hello"/);
});

test('as a page, a chart, a report and JSON', async () => {
  await using folder = await createFolder(files);
  const holdfast = inFolder(folder);
  await holdfast('plan', 'run', 'p.json');
  expect(await holdfast('trace', '--html', 't.html')).toEqual({ exitCode: 0, stdout: 'Written: t.html\n', stderr: '' });
  const page = await readFile(join(folder.path, 't.html'), 'utf8');
  expect(page).toMatch(/^<!doctype html>/i);
  expect(page).toContain('It broke.');
  expect(await holdfast('trace', '--html', 't.html')).toMatchObject({ exitCode: 2, stdout: '' });
  expect((await holdfast('trace', '--html', 't.html', '--force')).exitCode).toBe(0);
  expect((await holdfast('trace', '--mermaid')).stdout).toMatch(/^flowchart TD\n/);
  expect((await holdfast('trace', '--report')).stdout).toContain('It broke.');
  expect(JSON.parse((await holdfast('trace', '--json')).stdout)).toMatchObject({ status: 'partial' });
});

test('`--plan` selects one of several plans', async () => {
  await using folder = await createFolder();
  const document = (tool: string) => ({
    version: 1,
    status: 'success',
    nodes: [
      { id: 0, tool, function: tool, inputs: {}, depends_on: [], retry: 0, timeout: 60, on_fail: 'halt', metadata: {} },
    ],
    final_output_node: 0,
  });
  const start = (plan: number, tool: string) => ({
    type: 'plan-start',
    sessionId: 'one',
    plan,
    document: document(tool),
    digest: tool.repeat(64),
    atMs: 0,
  });
  const end = (plan: number) => ({ type: 'plan-end', plan, status: 'aborted', atMs: 1 });
  await writeLog(folder.path, 'one', [start(1, 'a'), end(1), start(3, 'b'), end(3)]);
  const holdfast = inFolder(folder);
  expect((await holdfast('trace')).stdout).toContain(`digest ${'b'.repeat(64)}`);
  expect((await holdfast('trace', 'one', '--plan', '1')).stdout).toContain(`digest ${'a'.repeat(64)}`);
  const { exitCode, stderr } = await holdfast('trace', '--plan', '3');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('(usage.invalid: plan_unknown)'),
  });
  expect(stderr).toContain('has run 2 plans; there is no plan 3');
});

test.each([
  { sessions: [], argv: ['trace'], says: '(usage.invalid: session_unknown)' },
  { sessions: ['one'], argv: ['trace'], says: '(usage.invalid: plan_unknown)' },
  { sessions: ['one'], argv: ['trace', 'one'], says: 'has not run a plan' },
  { sessions: ['one'], argv: ['trace', 'two'], says: '(usage.invalid: session_unknown)' },
  { sessions: ['one'], argv: ['trace', '--plan', '0'], says: 'Expected a positive integer' },
  { sessions: ['one'], argv: ['trace', '--json', '--html', 'x.html'], says: 'cannot be used with' },
  { sessions: ['one'], argv: ['trace', '--html', 'gone/x.html'], says: '(usage.invalid: folder_missing)' },
])('$argv with sessions $sessions: $says', async ({ sessions, argv, says }) => {
  await using folder = await createFolder();
  for (const id of sessions) await writeLog(folder.path, id, []);
  expect(await inFolder(folder)(...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(says) });
});

test('a modified log is reported, with exit code 1', async () => {
  await using folder = await createFolder(files);
  const holdfast = inFolder(folder);
  await holdfast('plan', 'run', 'p.json');
  const [, id = ''] = /session (\S+)/.exec((await holdfast('trace')).stdout) ?? [];
  const log = join(findLogFolder(folder.path), `${id}.jsonl`);
  await folder.write(log, (await readFile(log, 'utf8')).replaceAll('It broke.', 'It spoke.'));
  for (const argv of [
    ['trace', id],
    ['trace', id, '--json'],
  ]) {
    const { exitCode, stdout, stderr } = await holdfast(...argv);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toMatch(/changed|chain|damaged/);
  }
});
