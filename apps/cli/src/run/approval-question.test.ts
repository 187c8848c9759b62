import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../program.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { planText } from '../testing/test-plans.ts';
import { toPack } from '../testing/test-plugins.ts';
import { runHere, trustHere } from '../testing/test-program.ts';
import { findIssues, readSchema } from '../testing/test-schemas.ts';

const shell = `export const METADATA = {
  name: 'shell', function: 'shell', description: 'Notes a command.', dangerous: true, effects: 'state',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};
export async function shell({ command }, { filesystem }) {
  await filesystem.write('ran.txt', command);
}
`;
const hidden = `${'echo fine; '.repeat(250)}rm -rf ~; ${'echo fine; '.repeat(200)}`;
const guard = toPack(
  'careful',
  "({ tool }) => /^(?:write|edit|delete)_file$/.test(tool.name) ? core.ask('Looked at.') : core.allow",
);

const call = (name: string, input: object) => ({ calls: [{ name, arguments: input }] });

function files(...turns: readonly object[]): Record<string, string> {
  return {
    'plugins/shell.mjs': shell,
    'careful.mjs': guard,
    'config.mjs': "export default { packs: ['./careful.mjs'] };",
    'a.txt': 'one\ntwo\n',
    'b.txt': 'gone soon',
    'script.json': JSON.stringify({ turns: [...turns, { text: 'Done.' }] }),
  };
}

const run = ['run', 'Do it.', '--model', 'script:script.json', '--isolation', 'in-process', '--config', 'config.mjs'];

/** Runs `argv` at a terminal, where each question gets the next of `answers`. */
async function atTerminal(
  { path }: TestFolder,
  argv: readonly string[],
  answers: readonly string[],
  { asks = '◆', columns = 80 }: { asks?: string; columns?: number } = {},
): Promise<{ exitCode: number; stdout: string; asked: readonly string[] }> {
  await trustHere(path);
  const { host, stdin, stdout } = createTestHost({
    directory: path,
    terminals: ['stdin', 'stdout'],
    environment: { NO_COLOR: '1' },
    columns,
  });
  // The terminal contents at each question.
  const asked: string[] = [];
  host.stdout.on('data', () => {
    if (stdout().split(asks).length - 1 <= asked.length) return;
    asked.push(stdout());
    const keys = answers[asked.length - 1];
    setImmediate(() => stdin.write(keys ?? '\x1b'));
  });
  const exitCode = await runProgram(argv, host, '0');
  return { exitCode, stdout: stdout(), asked };
}

const readRan = ({ path }: TestFolder) => readFile(join(path, 'ran.txt'), 'utf8').catch(() => undefined);
const once = '\x1b[A\x1b[A\r';

test('approving an argument that was cut shows it in full and asks again', async () => {
  await using folder = await createFolder(files(call('shell', { command: hidden })));
  const { exitCode, asked } = await atTerminal(folder, run, [once, '\x1b']);
  expect(exitCode).toBe(0);
  expect(asked).toHaveLength(2);
  expect(asked[0]).not.toContain('rm -rf');
  expect(asked[1]).toContain('rm -rf');
  expect(await readRan(folder)).toBe(undefined);
});

const edits = {
  calls: [
    { name: 'write_file', arguments: { path: 'new.txt', content: 'hello\n' } },
    { name: 'edit_file', arguments: { path: 'a.txt', oldText: 'two', newText: 'three' } },
    { name: 'delete_file', arguments: { path: 'b.txt' } },
    { name: 'edit_file', arguments: { path: 'gone.txt', oldText: 'x', newText: 'y' } },
  ],
};
const reads = { calls: ['a.txt', 'b.txt'].map((path) => ({ name: 'read_file', arguments: { path } })) };
const shownChanges = [
  '    + new.txt (new, 6 B)\n',
  '    ~ a.txt (+1 -1, 8 B -> 10 B)\n    | @@ -1,2 +1,2 @@\n    |  one\n    | -two\n    | +three\n',
  '    - b.txt (removed, 9 B)\n',
  '    = Changes unknown: ',
];

test('`run` previews changes of the file tools', async () => {
  await using folder = await createFolder(files(reads, edits));
  const { stdout, asked } = await atTerminal(folder, run, []);
  expect(asked).toHaveLength(4);
  for (const text of shownChanges) expect(stdout).toContain(text);
  expect(await readFile(join(folder.path, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('`pending` and `approve` preview changes based on the current files', async () => {
  await using folder = await createFolder(files(reads, edits));
  expect(await runHere([...run, '--suspend'], { directory: folder.path })).toMatchObject({ exitCode: 3, stderr: '' });
  const type = (...argv: readonly string[]) => runHere(argv, { directory: folder.path });
  const [{ session, calls }] = JSON.parse((await type('pending', '--json')).stdout);
  expect(findIssues(await readSchema('pending'), [{ session, calls, runs: [], plans: [], grants: [] }])).toEqual([]);
  expect(calls).toMatchObject([
    { changes: [{ path: 'new.txt', change: 'created', bytesAfter: 6 }] },
    { changes: [{ path: 'a.txt', change: 'changed', diff: '@@ -1,2 +1,2 @@\n one\n-two\n+three\n' }] },
    { changes: [{ path: 'b.txt', change: 'removed', bytesBefore: 9 }] },
    { changesUnknown: expect.stringContaining('`gone.txt`') },
  ]);
  const { stdout } = await type('pending', session);
  for (const text of shownChanges) expect(stdout).toContain(text);

  await folder.write('new.txt', 'by hand\n');
  const approved = await type('approve', session, 'call_2_0', 'call_2_2');
  expect(approved.exitCode).toBe(0);
  expect(approved.stdout).toContain('    ~ new.txt (+1 -1, 8 B -> 6 B)\n');
  expect(approved.stdout).toMatch(/ {4}- b\.txt \(removed, 9 B\)\n[\s\S]+\nApproved: write_file \(call_2_0\)\n/);
  const json = JSON.parse((await type('approve', session, 'call_2_1', '--json')).stdout);
  expect(findIssues(await readSchema('answer'), json)).toEqual([]);
  expect(json.answered).toMatchObject([
    { input: { path: 'a.txt', oldText: 'two', newText: 'three' }, changes: [{ path: 'a.txt', change: 'changed' }] },
  ]);
});

test("changes of a plan's node are previewed", async () => {
  const node = { id: 'write', tool: 'write_file', inputs: { path: 'new.txt', content: 'hello\n' } };
  await using folder = await createFolder({ ...files(), 'p.json': planText(node) });
  const argv = ['plan', 'run', 'p.json', '--config', 'config.mjs'];
  const { exitCode, asked } = await atTerminal(folder, argv, [once]);
  expect({ exitCode, asked: asked.length }).toEqual({ exitCode: 0, asked: 1 });
  expect(asked[0]).toContain(shownChanges[0]);
});

async function suspend(folder: TestFolder): Promise<string> {
  await runHere([...run, '--suspend'], { directory: folder.path });
  const [{ session }] = JSON.parse((await runHere(['pending', '--json'], { directory: folder.path })).stdout);
  return session;
}

test('`pending` cuts a long argument, `pending ID` shows all of it', async () => {
  await using folder = await createFolder(files(call('shell', { command: hidden })));
  const session = await suspend(folder);
  const list = await runHere(['pending'], { directory: folder.path });
  expect(list.stdout).not.toContain('rm -rf');
  expect(list.stdout).toMatch(
    new RegExp(`^ {4}… \\d+ more lines of \\d+: \`holdfast pending ${session}\` shows all\\.$`, 'm'),
  );
  const one = await runHere(['pending', session], { directory: folder.path });
  expect(one.stdout).toContain('rm -rf');
  expect(one.stdout).not.toContain('more lines');
});

const answered = ({ path }: TestFolder) =>
  runHere(['pending', '--json'], { directory: path }).then(({ stdout }) => JSON.parse(stdout)[0].calls[0].state);

test.each([
  { keys: 'y', exitCode: 0, state: 'approved' },
  { keys: '\r', exitCode: 1, state: 'waiting' },
  { keys: '\x03', exitCode: 1, state: 'waiting' },
])('`approve` at a terminal shows a long argument in full and asks: $keys', async ({ keys, exitCode, state }) => {
  await using folder = await createFolder(files(call('shell', { command: hidden })));
  const session = await suspend(folder);
  const trial = await atTerminal(folder, ['approve', session, 'call_1_0'], [keys]);
  expect(trial.asked).toHaveLength(1);
  expect(trial.asked[0]).toContain('rm -rf');
  expect({ exitCode: trial.exitCode, state: await answered(folder) }).toEqual({ exitCode, state });
});

test('`approve` without a terminal, or if the call fits on the screen, shows it in full without asking', async () => {
  await using folder = await createFolder(files(call('shell', { command: hidden }), call('shell', { command: 'ls' })));
  const session = await suspend(folder);
  const script = await runHere(['approve', session, 'call_1_0'], { directory: folder.path });
  expect(script).toMatchObject({ exitCode: 0, stderr: '' });
  expect(script.stdout).toMatch(/rm -rf[\s\S]+\nApproved: shell \(call_1_0\)\n/);
  await runHere(['resume', session, '--config', 'config.mjs', '--suspend'], { directory: folder.path });
  const trial = await atTerminal(folder, ['approve', session, 'call_2_0'], []);
  expect({ ...trial, stdout: '' }).toEqual({ exitCode: 0, asked: [], stdout: '' });
  expect(trial.stdout).toMatch(/"command": "ls"[\s\S]+\nApproved: shell \(call_2_0\)\n/);
});
