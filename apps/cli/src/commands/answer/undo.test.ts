import { writeFileSync } from 'node:fs';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { answerHook } from '../../guard/hook.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runHere } from '../../testing/test-program.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { undoCall } from './undo.ts';

const createWorld = (): Promise<TestFolder> =>
  createFolder({
    'work/.git/HEAD': '',
    'work/a.txt': 'one\n',
    'work/b.bin': '\0one',
    'own/holdfast.policy.json': '{ "checkpoints": true }',
  });

const environmentOf = ({ path }: TestFolder) => ({ HOME: path, HOLDFAST_HOME: join(path, 'own') });

/** A shell command of Claude Code, which changes files as `change` does. */
async function call(folder: TestFolder, id: string, command: string, change: () => Promise<unknown>): Promise<void> {
  const directory = join(folder.path, 'work');
  const host = { environment: environmentOf(folder), directory, untilMs: Number.POSITIVE_INFINITY };
  const tell = async (hook_event_name: string, more: object = {}): Promise<void> => {
    const tool = { tool_name: 'Bash', tool_input: { command }, tool_use_id: id };
    const event = { session_id: 's1', cwd: directory, hook_event_name, permission_mode: 'default', ...tool, ...more };
    const question = { agent: 'claude-code', text: JSON.stringify(event) };
    const answer = await answerHook(question, { ...host, pause: () => Promise.resolve() });
    expect(answer).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  };
  await tell('PreToolUse');
  await change();
  await tell('PostToolUse', { tool_response: '' });
}

async function undo(
  folder: TestFolder,
  callId: string,
  whenShown: () => void = () => undefined,
): Promise<{ readonly exitCode: number; readonly out: string }> {
  const { host, stdout } = createTestHost({ directory: folder.path, environment: environmentOf(folder) });
  host.stdout.once('data', whenShown);
  const exitCode = await undoCall({ call: callId, yes: true }, host);
  return { exitCode, out: stdout() };
}

test('a call of a guarded agent is shown and undone, and the log says so', async () => {
  await using folder = await createWorld();
  const path = join(folder.path, 'work/a.txt');
  const binary = join(folder.path, 'work/b.bin');
  await call(folder, 'call-1', 'echo two > a.txt; echo x > b.bin', async () => {
    await writeFile(path, 'two\n');
    await writeFile(binary, '\0two!');
  });
  const { exitCode, out } = await undo(folder, 'call-1');
  expect(exitCode).toBe(0);
  expect(out).toContain('-two\n+one\n');
  expect(out).toContain('b.bin: 5 bytes now, 4 bytes before');
  expect(out).toContain('2 files put back. What the call did elsewhere is not undone.');
  expect(await readFile(path, 'utf8')).toBe('one\n');
  expect(await readFile(binary, 'utf8')).toBe('\0one');
  expect((await undo(folder, 'call-1')).out).toContain('Nothing to do: the files are as before the call.');
  const { host } = createTestHost({ directory: folder.path, environment: environmentOf(folder) });
  const log = readLog(join(guardFolder(host), '.holdfast/sessions/claude-code-s1.jsonl'));
  expect(log.problem).toBeUndefined();
  expect(log.records.filter(({ type }) => String(type).startsWith('guard-'))).toMatchObject([
    { type: 'guard-kept', callId: 'call-1', files: 2, left: [] },
    { type: 'guard-undone', callId: 'call-1', files: [path, binary] },
  ]);
});

test('a file that is changed while the person reads is not put back, and a wide mode is kept', async () => {
  await using folder = await createWorld();
  const [path, binary] = ['a.txt', 'b.bin'].map((name) => join(folder.path, 'work', name)) as [string, string];
  await chmod(binary, 0o666);
  await call(folder, 'call-1', 'echo two > a.txt; echo x > b.bin', async () => {
    await writeFile(path, 'two\n');
    await writeFile(binary, 'x');
  });
  const { exitCode, out } = await undo(folder, 'call-1', () => writeFileSync(path, 'mine'));
  expect(exitCode).toBe(1);
  expect(out).toContain('failed: a.txt: it was changed since the call');
  expect(out).toContain('1 file put back.');
  expect(await readFile(path, 'utf8')).toBe('mine');
  expect((await stat(binary)).mode & 0o777).toBe(0o666);
});

test('a file that was changed since is refused; the others are put back', async () => {
  await using folder = await createWorld();
  const [path, binary] = ['a.txt', 'b.bin'].map((name) => join(folder.path, 'work', name)) as [string, string];
  await call(folder, 'call-1', 'rm a.txt; echo x > b.bin', async () => {
    await writeFile(path, 'two\n');
    await writeFile(binary, 'x');
  });
  await writeFile(binary, 'mine');
  const { exitCode, out } = await undo(folder, 'call');
  expect(exitCode).toBe(1);
  expect(out).toContain('b.bin: refused, it was changed since the call');
  expect(await readFile(path, 'utf8')).toBe('one\n');
  expect(await readFile(binary, 'utf8')).toBe('mine');
});

test('without the setting nothing is kept, and an unknown call is refused', async () => {
  await using folder = await createWorld();
  await folder.write('own/holdfast.policy.json', '{}');
  await call(folder, 'call-1', 'echo two > a.txt', () => writeFile(join(folder.path, 'work/a.txt'), 'two\n'));
  await expect(undo(folder, 'call-1')).rejects.toMatchObject({ code: 'usage.invalid', reason: 'call_unknown' });
});

test('an ambiguous call, and one without a person, are refused', async () => {
  await using folder = await createWorld();
  const change = () => writeFile(join(folder.path, 'work/a.txt'), 'two\n');
  await call(folder, 'call-10', 'echo two > a.txt', change);
  await call(folder, 'call-11', 'echo two >> a.txt', change);
  await expect(undo(folder, 'call-1')).rejects.toMatchObject({ reason: 'call_ambiguous' });
  const environment = environmentOf(folder);
  expect(await runHere(['undo', 'call-10'], { directory: folder.path, environment })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Only a person at a terminal can undo a call of a guarded agent'),
  });
});
