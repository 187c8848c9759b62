import { readdir } from 'node:fs/promises';
import { createSession } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { expect, test, vi } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { planText, planTools } from '../../testing/test-plans.ts';
import { type Ended, runHere, runMain, toTool, trustHere } from '../../testing/test-program.ts';
import { findLogFolder, prepareLogPath } from '../../workspace/session-logs.ts';

// Starting Node.js may take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

function inFolder({ path }: TestFolder) {
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path });
}

const waits = {
  ...planTools,
  'p.json': planText(
    { id: 'before', tool: 'act' },
    { id: 'one', tool: 'wipe', depends_on: ['before'] },
    { id: 'two', tool: 'wipe', depends_on: ['before'], on_fail: 'continue' },
    { id: 'last', tool: 'act', inputs: { say: '{{STEPS.one}}' }, depends_on: ['two'] },
  ),
};

test('a suspended plan is answered in parts by other commands and resumed with its options', async () => {
  await using folder = await createFolder(waits);
  const holdfast = inFolder(folder);
  const begun = await holdfast('plan', 'run', 'p.json', '--suspend', '--max-calls', '10');
  expect(begun).toMatchObject({ exitCode: 3, stderr: '' });
  expect(begun.stdout).toMatch(/^suspended .*: 4 nodes \(1 ok, 2 suspended, 1 waiting\)$/m);
  expect(begun.stdout).not.toContain('trace:');
  const [, id = ''] = /holdfast pending (\S+)/.exec(begun.stdout) ?? [];
  const pending = await holdfast('pending');
  expect(pending.stdout).toMatch(/^The plan started .* with 4 nodes is suspended\.$/m);
  // They run in parallel, and either may ask first.
  expect(pending.stdout).toMatch(new RegExp(`holdfast approve ${id} plan_2_(?:one|two)$`, 'm'));
  expect(pending.stdout).toContain(`holdfast resume ${id}`);
  expect((await holdfast('show')).stdout).toContain('is pending until');

  expect((await holdfast('approve', id, 'plan_2_one', '--by', 'anna')).exitCode).toBe(0);
  const partly = await holdfast('resume', id);
  expect(partly.stdout).toMatch(/^plan [0-9a-f]{16} · /);
  expect(partly).toMatchObject({ exitCode: 3, stderr: '' });
  expect(partly.stdout).toMatch(/ok +one +wipe .*asked: approved by anna/);
  expect((await holdfast('deny', id, 'plan_2_two', '--reason', 'Not that one.')).exitCode).toBe(0);
  const ended = await holdfast('resume', id);
  expect(ended).toMatchObject({ exitCode: 1, stderr: '' });
  expect(ended.stdout).toContain('Not that one.');
  // Earlier use counts.
  expect(ended.stdout).toMatch(/^used \d+ of 8 calls$/m);
  expect(await holdfast('resume', id)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('work.not_open') });
  expect((await holdfast('pending')).stdout).toContain('Nothing is pending');
  const shown = await holdfast('show');
  expect(shown.stdout).toMatch(/Suspended {2}.*Resumed {2}.*Suspended {2}.*Resumed {2}.*Status {2}partial/s);
  expect((await holdfast('trace')).stdout).toMatch(/^two +wipe +denied/m);
});

test('the user is asked at the terminal, and the plan continues', async () => {
  await using folder = await createFolder({ ...planTools, 'p.json': planText({ id: 1, tool: 'wipe' }) });
  await trustHere(folder.path);
  const { host, stdin, stdout } = createTestHost({
    directory: folder.path,
    terminals: ['stdin', 'stdout'],
    environment: { NO_COLOR: '1' },
  });
  let asked = false;
  host.stdout.on('data', () => {
    if (asked || !stdout().includes('asking    wipe')) return;
    asked = true;
    // Moves to the first choice, "Allow once".
    stdin.write('\x1b[A\x1b[A\r');
  });
  expect(await runProgram(['plan', 'run', 'p.json'], host, '0')).toBe(0);
  expect(stdout()).toMatch(/ok +1 +wipe .*approved by person/);
});

test('a killed plan is resumed: ended nodes do not run again, and calls in doubt are reported', async () => {
  await using folder = await createFolder({
    ...planTools,
    'p.json': planText(
      { id: 'first', tool: 'act', inputs: { say: 'x' } },
      { id: 'hang', tool: 'hang', depends_on: ['first'], on_fail: 'continue' },
      { id: 'last', tool: 'act', depends_on: ['hang'] },
    ),
  });
  const holdfast = inFolder(folder);
  const killed = await runMain(['plan', 'run', 'p.json', '--json'], {
    folder: folder.path,
    onStdout(child, seen) {
      if (seen.includes('hanging')) child.kill('SIGKILL');
    },
  });
  expect(killed.exitCode).toBe(null);
  const pending = await holdfast('pending');
  expect(pending.stdout).toContain('was interrupted: its process has ended');
  expect(pending.stdout).toContain('its effect is unknown');
  expect((await holdfast('trace')).stdout).toContain('Its log has no end');
  const ended = await holdfast('resume', '--json');
  expect(ended).toMatchObject({ exitCode: 1, stderr: '' });
  const events = ended.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ends = events.flatMap((event) => (event.type === 'node-end' ? [[event.node.node, event.node.kind]] : []));
  expect(ends).toEqual([
    ['hang', 'in-doubt'],
    ['last', 'ok'],
  ]);
  expect(events.at(-1).trace.status).toBe('partial');
  expect((await holdfast('show')).stdout).toContain('hash chain intact');
});

test.each([
  { signal: 'SIGINT', exitCode: 130 },
  { signal: 'SIGTERM', exitCode: 143 },
] as const)('$signal: $exitCode, every node is settled and the log is complete', async ({ signal, exitCode }) => {
  await using folder = await createFolder({
    ...planTools,
    'p.json': planText({ id: 'hang', tool: 'hang' }, { id: 'last', tool: 'act', depends_on: ['hang'] }),
  });
  const ended = await runMain(['plan', 'run', 'p.json', '--json'], {
    folder: folder.path,
    onStdout(child, seen) {
      if (seen.includes('hanging') && !child.killed) child.kill(signal);
    },
  });
  expect(ended.exitCode).toBe(exitCode);
  const last = JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(last).toMatchObject({ type: 'plan-end', trace: { status: 'aborted' } });
  expect(last.trace.nodes.map(({ kind }: { kind: string }) => kind)).toEqual(['in-doubt', 'cancelled']);
  const holdfast = inFolder(folder);
  expect((await holdfast('show')).stdout).toMatch(/Status {2}aborted/);
  expect((await holdfast('resume')).stderr).toContain('work.not_open');
});

test('options for a model are rejected for a plan', async () => {
  await using folder = await createFolder(waits);
  const holdfast = inFolder(folder);
  await holdfast('plan', 'run', 'p.json', '--suspend');
  const { exitCode, stderr } = await holdfast('resume', '--model', 'offline', '--max-rounds', '3');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('`--model` and `--max-rounds` only applies to runs with a model'),
  });
  expect(stderr).toContain('(usage.invalid: option_unused)');
  const used = await holdfast('resume', '--max-calls', '1');
  expect(used).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('usage.invalid: limit_used') });
});

test('changed tools: nothing runs, and the mismatch is reported', async () => {
  await using folder = await createFolder(waits);
  const holdfast = inFolder(folder);
  await holdfast('plan', 'run', 'p.json', '--suspend');
  await folder.write(
    'plugins/act.mjs',
    toTool('act', 'return 1;').replace('properties: {}', "properties: { n: { type: 'integer' } }, required: ['n']"),
  );
  const { exitCode, stderr } = await holdfast('resume');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('plan.input.missing');
  expect(stderr).toContain('(plan.invalid)');
});

test('a plan started by another program must be resumed there', async () => {
  await using folder = await createFolder();
  const session = createSession({ id: 'one', store: createJsonlLog(await prepareLogPath(folder.path, 'one')) });
  const document = { version: 1, status: 'success', nodes: [], final_output_node: 0 };
  session.record({ type: 'plan-start', sessionId: 'one', plan: 1, document, digest: 'd', atMs: 0 });
  await session.close();
  const { exitCode, stderr } = await inFolder(folder)('resume');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('(usage.invalid: run_foreign)'),
  });
  expect(stderr).toContain('`resumePlan`');
});

test('the log keeps the concurrency', async () => {
  await using folder = await createFolder(waits);
  await inFolder(folder)('plan', 'run', 'p.json', '--suspend', '--concurrency', '1');
  const [name = ''] = await readdir(findLogFolder(folder.path));
  const records = (await inFolder(folder)('show', name.replace('.jsonl', ''), '--json')).stdout;
  expect(records).toContain('"maxConcurrency":1');
});
