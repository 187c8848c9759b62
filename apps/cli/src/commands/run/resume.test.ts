import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { pendingApproval } from '../../testing/test-events.ts';
import { createFolder, type TestFolder, toUserFolder } from '../../testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { checkLines } from '../../testing/test-schemas.ts';
import { findLog } from '../../workspace/session-logs.ts';

const toPublish = (extra = ''): string => `export const METADATA = {
  name: 'publish', function: 'publish', description: 'Writes a page.', dangerous: true, effects: 'state',
  parameters: { type: 'object', properties: { page: { type: 'string' } }, required: ['page'] },
};
export async function publish({ page }, { filesystem }) {
  ${extra}
  await filesystem.write(page + '.html', 'published');
  return page;
}
`;
const publish = (page: string) => ({ name: 'publish', arguments: { page } });
const look = { name: 'list_files', arguments: {} };
const usage = { inputTokens: 60, outputTokens: 40 };
const files = (...turns: readonly object[]) => ({
  'plugins/publish.mjs': toPublish(),
  'script.json': JSON.stringify({ turns: [...turns, { text: 'All is done.' }] }),
});

function type({ path }: TestFolder, argv: readonly string[], options: TestHostOptions = {}): Promise<Ended> {
  return runHere(argv, { directory: path, ...options });
}

/** Suspends a run; returns its id. */
async function suspend(folder: TestFolder, ...flags: readonly string[]): Promise<string> {
  const ended = await type(folder, ['run', 'Publish.', '--model', 'script:script.json', '--suspend', ...flags]);
  expect(ended).toMatchObject({ exitCode: 3, stderr: '' });
  return (await findLog(folder.path, undefined)).id;
}

async function listPages({ path }: TestFolder): Promise<readonly string[]> {
  return (await readdir(path)).filter((name) => name.endsWith('.html')).sort();
}

test('approved calls run, files are changed, and the script continues', async () => {
  await using folder = await createFolder(files({ calls: [look, publish('one')] }, { calls: [look] }));
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_1_1', '--by', 'anna']);
  const { exitCode, stdout, stderr } = await type(folder, ['resume', id]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^script:script\.json · \d+ file tools, 1 tool from \.\/plugins · in \//);
  expect(stdout).toMatch(/ok {8}publish .+ asked: approved by anna[\s\S]+ok {8}list_files/);
  expect(stdout).toContain('\n| All is done.\n\nChanged files:\n  + created one.html\n');
  expect(stdout).toMatch(/\ncompleted after [\d.]+ m?s: 3 turns, 2 calls \(2 ok\)\nsession log: holdfast show \S+\n$/);
  expect(await listPages(folder)).toEqual(['one.html']);
});

test('isolation is kept unless an option is given', async () => {
  const here = `${process.pid}.html`;
  const source = toPublish("await filesystem.write(process.pid + '.html', '');");
  const start = { ...files({ calls: [publish('one')] }), 'plugins/publish.mjs': source };
  const resume = async (given: readonly string[], now: readonly string[]) => {
    await using folder = await createFolder(start);
    const id = await suspend(folder, ...given);
    await type(folder, ['approve', id, 'call_1_0']);
    const { stdout } = await type(folder, ['resume', id, ...now]);
    const head = stdout.split('\n', 1)[0] ?? '';
    return { isHere: (await listPages(folder)).includes(here), says: head.replace(/^.* · in \S+/, '') };
  };
  const trusting = ['--isolation', 'in-process'];
  expect(await resume([], [])).toEqual({ isHere: false, says: '' });
  expect(await resume(trusting, [])).toEqual({ isHere: true, says: ' · --isolation in-process' });
  expect(await resume([], trusting)).toEqual({ isHere: true, says: ' · --isolation in-process' });
  expect(await resume(trusting, ['--isolation', 'subprocess'])).toEqual({
    isHere: false,
    says: ' · --isolation subprocess',
  });
});

test('--json output matches the schema', async () => {
  await using folder = await createFolder(files({ calls: [publish('one')] }));
  const id = await suspend(folder);
  await type(folder, ['deny', id, 'call_1_0', '--reason', 'No.']);
  const { stdout } = await type(folder, ['resume', id, '--json']);
  expect(await checkLines('run', stdout)).toContain('run-resume');
  expect(stdout).toContain('"status":"completed"');
  const records = await checkLines('show', (await type(folder, ['show', '--json'])).stdout);
  for (const record of ['run-options', 'run-resume', 'approval-answer']) expect(records).toContain(record);
});

test("from another folder, with the run's model, tools, order and allowed tools", async () => {
  await using folder = await createFolder({
    'work/a.txt': 'a',
    'plugins/publish.mjs': toPublish(),
    'plugins/wipe.mjs': toPublish().replaceAll('publish', 'wipe'),
    'script.json': JSON.stringify({
      turns: [
        { calls: [publish('one')] },
        { calls: [{ name: 'wipe', arguments: { page: 'two' } }] },
        { calls: [publish('three'), look] },
        { text: 'Done.' },
      ],
    }),
  });
  const flags = ['--workspace', 'work', '--allow', 'wipe', '--order', 'list_files,wipe'];
  const started = await type(folder, ['run', 'x', '--model', 'script:script.json', '--suspend', ...flags]);
  const [, typed = ''] = /^ {2}holdfast (approve .+)$/m.exec(started.stdout) ?? [];
  expect(typed).toMatch(/^approve \S+ call_1_0 --workspace work$/);
  expect((await type(folder, typed.split(' '))).exitCode).toBe(0);
  await using elsewhere = await createFolder();
  const workspace = join(folder.path, 'work');
  const { exitCode, stdout } = await type(elsewhere, ['resume', '--workspace', workspace, '--suspend'], {
    // The same user.
    environment: { NO_COLOR: '1', HOLDFAST_HOME: toUserFolder(folder.path) },
  });
  expect(exitCode).toBe(3);
  expect(stdout).toContain('2 tools from ./plugins');
  expect(stdout).toContain(' · --allow wipe\n');
  expect(stdout).toMatch(
    /ok {8}publish [\s\S]+denied {4}wipe .+ deny: sequential-dependency[\s\S]+call_3_0 {2}publish/,
  );
});

test('without a terminal unanswered calls stay pending; --unattended denies them, --yes and --allow approve them', async () => {
  for (const { flags, exitCode, pages } of [
    { flags: [], exitCode: 3, pages: [] },
    { flags: ['--suspend'], exitCode: 3, pages: [] },
    { flags: ['--unattended'], exitCode: 0, pages: [] },
    { flags: ['--yes'], exitCode: 0, pages: ['one.html'] },
    { flags: ['--allow', 'publish'], exitCode: 0, pages: ['one.html'] },
  ]) {
    await using folder = await createFolder(files({ calls: [publish('one')] }));
    const id = await suspend(folder);
    expect({ flags, exitCode: (await type(folder, ['resume', id, ...flags])).exitCode }).toEqual({ flags, exitCode });
    expect(await listPages(folder)).toEqual(pages);
  }
});

test('unanswered calls are asked about at the terminal', async () => {
  await using folder = await createFolder(files({ calls: [publish('one'), publish('two')] }));
  const id = await suspend(folder);
  await type(folder, ['deny', id, 'call_1_0']);
  const trial = createTestHost({
    directory: folder.path,
    terminals: ['stdin', 'stdout'],
    environment: { NO_COLOR: '1' },
  });
  let asked = 0;
  trial.host.stdout.on('data', () => {
    const seen = trial.stdout().split('publish  dangerous').length - 1;
    if (seen === asked) return;
    asked = seen;
    trial.stdin.write('\x1b[A\x1b[A\r');
  });
  expect(await runProgram(['resume', id], trial.host, '0')).toBe(0);
  expect(asked).toBe(1);
  expect(await listPages(folder)).toEqual(['two.html']);
});

test('a tool that changed after its approval needs approval again', async () => {
  await using folder = await createFolder(files({ calls: [publish('one')] }));
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_1_0']);
  await folder.write('plugins/publish.mjs', toPublish("page = '../' + page;"));
  const { exitCode, stdout } = await type(folder, ['resume', id]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain('call_1_0  publish');
  expect(await listPages(folder)).toEqual([]);
  const [{ calls }] = JSON.parse((await type(folder, ['pending', '--json'])).stdout);
  expect(calls).toMatchObject([{ callId: 'call_1_0', state: 'waiting' }]);
});

test('a late answer does not count: the model is told', async () => {
  await using folder = await createFolder(files({ calls: [publish('one')] }));
  const id = await suspend(folder, '--approval-timeout', '0.001');
  const { exitCode, stdout } = await type(folder, ['resume', id]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('(approval.expired)');
  expect(await listPages(folder)).toEqual([]);
});

test('limits apply to the whole run and can be raised', async () => {
  await using folder = await createFolder(
    files({ calls: [look, look, publish('one')], usage }, { calls: [look], usage }),
  );
  const id = await suspend(folder, '--max-calls', '3', '--max-tokens', '100');
  await type(folder, ['approve', id, 'call_1_2']);
  const refused = await type(folder, ['resume', id]);
  expect(refused).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('used 100 of 100 allowed by `--max-tokens`'),
  });
  const { exitCode, stdout } = await type(folder, ['resume', id, '--max-tokens', '1000']);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('budget (all ');
  expect(await listPages(folder)).toEqual(['one.html']);
});

test('a different model and tools can be given if the old ones are gone', async () => {
  await using folder = await createFolder(files({ calls: [publish('one')] }));
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_1_0']);
  await using other = await createFolder({
    'tools/publish.mjs': toPublish(),
    'next.json': '{"turns":[{"text":"never"},{"text":"From another model."}]}',
  });
  const flags = ['--workspace', folder.path, '--tools', 'tools', '--model', 'script:next.json'];
  const { exitCode, stdout } = await type(other, ['resume', id, ...flags]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('From another model.');
});

test.each([
  {
    what: 'that has ended',
    entries: [{ type: 'run-end', run: 1, status: 'completed' }],
    exitCode: 1,
    code: 'work.not_open: run',
  },
  { what: 'of another program', entries: [], exitCode: 2, code: 'usage.invalid: run_foreign' },
])('a run $what cannot be resumed', async ({ entries, exitCode, code }) => {
  await using folder = await createFolder();
  const runStart = { type: 'run-start', run: 1, model: 'm', input: 'x', tools: [] };
  await writeLog(folder.path, 'one', [runStart, ...entries]);
  const ended = await type(folder, ['resume']);
  expect(ended).toMatchObject({ exitCode, stderr: expect.stringContaining(`(${code})`) });
  // Its log is unchanged.
  expect(readLog((await findLog(folder.path, 'one')).path).records).toHaveLength(2 + entries.length);
});

test('a direct call of another program is not a run', async () => {
  await using folder = await createFolder();
  const { run: _run, turn: _turn, ...pending } = pendingApproval();
  await writeLog(folder.path, 'one', [{ type: 'approval-request', pending, rawArguments: {} }]);
  expect((await type(folder, ['resume', 'one'])).stderr).toContain(
    'in the program that made them. (work.not_open: run)',
  );
});

test('no session, no folder', async () => {
  await using folder = await createFolder();
  for (const { argv, code } of [
    { argv: ['resume'], code: 'usage.invalid: session_unknown' },
    { argv: ['resume', '--workspace', 'gone'], code: 'usage.invalid: workspace_missing' },
    { argv: ['approve', 'one', 'c1'], code: 'usage.invalid: session_unknown' },
    { argv: ['resume', '--yes', '--suspend'], code: 'cannot be used with' },
    { argv: ['resume', '--unattended', '--suspend'], code: 'cannot be used with' },
  ]) {
    expect(await type(folder, argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(code) });
  }
});
