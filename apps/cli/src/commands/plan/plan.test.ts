import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { planSchema } from '@holdfast/orchestrator';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import type { TestHostOptions } from '../../testing/test-host.ts';
import { planText, planTools } from '../../testing/test-plans.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { checkLines, findIssues, readSchema } from '../../testing/test-schemas.ts';

function inFolder({ path }: TestFolder, options: TestHostOptions = {}) {
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path, ...options });
}

const small = planText(
  { id: 'first', tool: 'act', inputs: { say: 'hello' } },
  { id: 'last', tool: 'act', inputs: { say: '{{STEPS.first.said}} again' }, metadata: { purpose: 'Say it again' } },
);

test('a request becomes a plan that is shown, written, checked, run and traced', async () => {
  await using folder = await createFolder({ 'a.txt': 'one two\n' });
  const holdfast = inFolder(folder);
  const made = await holdfast('plan', 'Read a.txt and write it to b.txt', '--output', 'p.json');
  expect(made).toMatchObject({ exitCode: 0, stderr: '' });
  expect(made.stdout).toMatch(/^0 +read_file .*\n +path: "a\.txt"\n1 +write_file +0 +halt/m);
  expect(made.stdout).toContain('content: <0');
  const [, digest = ''] = /^digest ([0-9a-f]{64})$/m.exec(made.stdout) ?? [];
  expect(made.stdout).toContain(`Run it with: holdfast plan run p.json --digest ${digest.slice(0, 16)}`);
  expect(await readdir(folder.path)).toEqual(['a.txt', 'p.json']);

  expect((await holdfast('plan', 'check', 'p.json')).stdout).toBe(`valid  2 nodes\ndigest ${digest}\n`);
  const ran = await holdfast('plan', 'run', 'p.json', '--digest', digest.slice(0, 16).toUpperCase());
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ran.stdout).toMatch(/^ {2}ok +0 +read_file /m);
  expect(ran.stdout).toContain('+ created b.txt');
  expect(ran.stdout).toMatch(/^succeeded after .*: 2 nodes \(2 ok\)$/m);
  expect(await readFile(join(folder.path, 'b.txt'), 'utf8')).toBe('one two\n');

  const trace = await holdfast('trace');
  expect(trace).toMatchObject({ exitCode: 0, stderr: '' });
  expect(trace.stdout).toMatch(/^1 +write_file +ok +1 /m);
  expect(trace.stdout).toContain('hash chain intact');
  expect((await holdfast('show')).stdout).toMatch(/Plan {2}.* 2 nodes\n.*Status {2}succeeded/s);
  expect((await holdfast('why', 'plan_2_1')).stdout).toContain('asked by   the host');
});

test('compiled and run at once, from standard input, with JSON events and a JSON plan', async () => {
  await using folder = await createFolder({ 'a.txt': 'one\n' });
  const holdfast = inFolder(folder);
  const made = await holdfast('plan', 'Read a.txt', '--json');
  expect(findIssues(await readSchema('plan'), JSON.parse(made.stdout))).toEqual([]);
  const ran = await holdfast('plan', 'Read a.txt', '--run', '--json');
  expect(ran.exitCode).toBe(0);
  const last = JSON.parse(ran.stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(last).toMatchObject({ type: 'plan-end', trace: { status: 'succeeded', request: 'Read a.txt' } });
  const told = await holdfast('plan', 'Read a.txt', '--run');
  expect(told.stdout).toMatch(/digest [0-9a-f]{64}\n\nplan [0-9a-f]{16} · 1 node · .*\n {2}ok /);
  expect((await holdfast('plan', 'Read a.txt', '--mermaid')).stdout).toMatch(/^flowchart TD\n {2}n0\[\["0 read/);
});

test('the schema of a plan is the one of the orchestrator', async () => {
  expect(await readSchema('plan')).toEqual(planSchema);
});

test('events, log records, pending calls and traces of plans match the schemas', async () => {
  await using folder = await createFolder({
    ...planTools,
    'p.json': planText(
      { id: 'ok', tool: 'act', inputs: { say: 'x' } },
      { id: 'again', tool: 'flaky', retry: 1, on_fail: 'continue' },
      { id: 'bad', tool: 'act', inputs: { fail: 'no' }, on_fail: 'skip_dependents' },
      { id: 'skipped', tool: 'act', depends_on: ['bad'] },
      { id: 'wipe', tool: 'wipe' },
      { id: 'last', tool: 'act', inputs: { say: { $from: 'ok', path: 'said' } }, depends_on: ['wipe', 'again'] },
    ),
  });
  const holdfast = inFolder(folder);
  const checked = JSON.parse((await holdfast('plan', 'check', 'p.json', '--json')).stdout);
  expect(findIssues(await readSchema('plan-check'), checked)).toEqual([]);
  expect(checked).toMatchObject({ valid: true, nodes: 6, asks: [{ node: 'wipe', dangerous: true }] });

  const first = await holdfast('plan', 'run', 'p.json', '--json', '--suspend', '--concurrency', '1');
  expect(first.exitCode).toBe(3);
  const types = await checkLines('plan-run', first.stdout);
  for (const type of ['plan-start', 'node-start', 'node-end', 'tool-call-retry', 'approval-request', 'plan-end'])
    expect(types).toContain(type);
  const waiting = JSON.parse((await holdfast('pending', '--json')).stdout);
  expect(findIssues(await readSchema('pending'), waiting)).toEqual([]);
  expect(waiting).toMatchObject([{ plans: [{ state: 'suspended', nodes: 6 }], calls: [{ callId: 'plan_2_wipe' }] }]);

  await holdfast('approve', waiting[0].session, 'plan_2_wipe');
  const second = await holdfast('resume', '--json');
  expect(second).toMatchObject({ exitCode: 1, stderr: '' });
  expect(await checkLines('plan-run', second.stdout)).toContain('plan-resume');
  const records = await checkLines('show', (await holdfast('show', '--json')).stdout);
  for (const type of ['plan-start', 'plan-node', 'plan-resume', 'plan-end']) expect(records).toContain(type);
  const trace = JSON.parse((await holdfast('trace', '--json')).stdout);
  expect(findIssues(await readSchema('trace'), trace)).toEqual([]);
  expect(trace.nodes.map(({ kind }: { kind: string }) => kind)).toEqual([
    'ok',
    'failed',
    'failed',
    'skipped',
    'ok',
    'ok',
  ]);
  expect(JSON.parse(second.stdout.trimEnd().split('\n').at(-1) ?? '').trace).toEqual(trace);
});

test.each([
  { name: 'every node succeeded', nodes: [{ id: 1, tool: 'act' }], exitCode: 0, status: 'succeeded' },
  {
    name: 'only the final node succeeded',
    nodes: [
      { id: 1, tool: 'act', inputs: { fail: 'no' }, on_fail: 'continue' },
      { id: 2, tool: 'act', depends_on: [1] },
    ],
    exitCode: 1,
    status: 'partial',
  },
  {
    name: 'the final node failed',
    nodes: [{ id: 1, tool: 'act', inputs: { fail: 'It broke.' } }],
    exitCode: 1,
    status: 'failed',
  },
  { name: 'a call was denied without asking', nodes: [{ id: 1, tool: 'wipe' }], exitCode: 1, status: 'failed' },
])('$name: $status, and $exitCode', async ({ nodes, exitCode, status }) => {
  await using folder = await createFolder({ ...planTools, 'p.json': planText(...nodes) });
  const ran = await inFolder(folder)('plan', 'run', 'p.json');
  expect(ran).toMatchObject({ exitCode, stderr: '' });
  expect(ran.stdout).toMatch(new RegExp(`^${status}`, 'm'));
  expect(ran.stdout.includes('Failures:')).toBe(exitCode === 1);
});

test('a call that was denied without asking can be allowed', async () => {
  await using folder = await createFolder({ ...planTools, 'p.json': planText({ id: 1, tool: 'wipe' }) });
  const holdfast = inFolder(folder);
  expect((await holdfast('plan', 'run', 'p.json')).stdout).toContain('`--allow wipe` to allow it');
  const allowed = await holdfast('plan', 'run', 'p.json', '--allow', 'wipe');
  expect(allowed.stdout).toContain('Not listed: effects of wipe outside these files.');
  expect(allowed.stdout).not.toContain('needs approval:');
  expect((await holdfast('plan', 'run', 'p.json', '--yes')).exitCode).toBe(0);
});

test('limits: no more calls than allowed, and the use is reported', async () => {
  await using folder = await createFolder({ ...planTools, 'p.json': small });
  const ran = await inFolder(folder)('plan', 'run', 'p.json', '--max-calls', '1');
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain('budget.used');
  expect(ran.stdout).toContain('used 1 of 1 call');
});

test('a plan has the restrictions of a model: files are read before they are changed, and tool lists apply', async () => {
  await using folder = await createFolder({
    'a.txt': 'kept\n',
    'p.json': planText({ id: 1, tool: 'write_file', inputs: { path: 'a.txt', content: 'x' } }),
    'read.json': planText(
      { id: 0, tool: 'read_file', inputs: { path: 'a.txt' } },
      { id: 1, tool: 'write_file', inputs: { path: 'a.txt', content: 'x' }, depends_on: [0] },
    ),
    'deny/holdfast.config.ts': "export default { denyTools: ['write_file'] };",
  });
  const holdfast = inFolder(folder);
  const unread = await holdfast('plan', 'run', 'p.json');
  expect(unread.exitCode).toBe(1);
  expect(unread.stdout + unread.stderr).toContain('has not been read');
  const denied = await holdfast('plan', 'check', 'read.json', '--config', 'deny/holdfast.config.ts');
  expect(denied.exitCode).toBe(1);
  expect(denied.stdout).toContain('write_file');
  expect(await readFile(join(folder.path, 'a.txt'), 'utf8')).toBe('kept\n');
  expect((await holdfast('plan', 'run', 'read.json')).exitCode).toBe(0);
});
