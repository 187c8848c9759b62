import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { runHere } from '../testing/test-program.ts';

const call = (name: string, given: object) => ({ calls: [{ name, arguments: given }] });
const model = ['--model', 'script:script.json'];

function toFiles(turns: readonly object[]): Record<string, string> {
  return { 'script.json': JSON.stringify({ turns }), 'notes.txt': 'milk\n' };
}

test.each<{ what: string; terminals: readonly ('stdin' | 'stdout' | 'stderr')[] }>([
  { what: 'a pipe', terminals: [] },
  { what: 'a terminal', terminals: ['stdin', 'stdout', 'stderr'] },
])('run --quiet prints only the answer to $what', async ({ terminals }) => {
  const text = 'Two lines,\n  \x1b[2Jof which one is indented.\n';
  await using folder = await createFolder(
    toFiles([{ text: 'Looking.', ...call('read_file', { path: 'notes.txt' }) }, { text }]),
  );
  const ended = await runHere(['run', 'Do it.', ...model, '--quiet'], { directory: folder.path, terminals });
  expect(ended).toEqual({ exitCode: 0, stdout: 'Two lines,\n  \\x1b[2Jof which one is indented.\n', stderr: '' });
});

test('without an answer stdout is empty, and stderr has the reason', async () => {
  await using folder = await createFolder(toFiles([call('read_file', { path: 'notes.txt' })]));
  const argv = ['run', 'Do it.', ...model, '--quiet', '--max-rounds', '1'];
  const { exitCode, stdout, stderr } = await runHere(argv, { directory: folder.path });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain('max-rounds (out of rounds');
});

test('a suspended run prints the next commands to stderr, and resume --quiet prints its answer', async () => {
  await using folder = await createFolder(
    toFiles([call('write_file', { path: '.envrc', content: '' }), { text: 'Done.' }]),
  );
  const here = { directory: folder.path };
  const waiting = await runHere(['run', 'Do it.', ...model, '--quiet', '--suspend'], here);
  expect(waiting).toMatchObject({ exitCode: 3, stdout: '' });
  const [, id = ''] = /holdfast resume (\S+)/.exec(waiting.stderr) ?? [];
  expect((await runHere(['approve', id, 'call_1_0'], here)).exitCode).toBe(0);
  expect(await runHere(['resume', id, '--quiet'], here)).toEqual({ exitCode: 0, stdout: 'Done.\n', stderr: '' });
});

const plan = (...nodes: readonly object[]): string => JSON.stringify({ nodes, final_output_node: nodes.length - 1 });

test('plan run --quiet prints the result of the final node, or the reason to stderr', async () => {
  const reading = { id: 0, tool: 'list_files', inputs: {} };
  const writing = { id: 0, tool: 'write_file', inputs: { path: 'notes.txt', content: 'no' } };
  await using folder = await createFolder({
    'notes.txt': 'milk\n',
    'good.json': plan(reading),
    'bad.json': plan(writing),
  });
  const here = { directory: folder.path };
  const good = await runHere(['plan', 'run', 'good.json', '--quiet'], here);
  expect(good).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(good.stdout)).toMatchObject({ entries: expect.anything() });
  const bad = await runHere(['plan', 'run', 'bad.json', '--quiet'], here);
  expect(bad).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('Failures:') });
  const made = await runHere(['plan', 'Read notes.txt', '--run', '--quiet'], here);
  expect(made).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(made.stdout)).toMatchObject({ text: 'milk\n' });
});

test.each([
  { argv: ['run', 'x', '--quiet', '--json'], says: "'--quiet' cannot be used with option '--json'" },
  { argv: ['plan', 'x', '--quiet'], says: '`--quiet` only applies to running a plan' },
])('$argv: $says', async ({ argv, says }) => {
  await using folder = await createFolder();
  const { exitCode, stderr } = await runHere(argv, { directory: folder.path });
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(says) });
});
