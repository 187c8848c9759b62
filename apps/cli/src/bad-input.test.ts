import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { unprintable } from './terminal/text.ts';
import { createFolder } from './testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from './testing/test-host.ts';
import { runMain, toTool, trustHere } from './testing/test-program.ts';
import { findLogFolder } from './workspace/session-logs.ts';

async function run(argv: readonly string[], directory: string, options: TestHostOptions = {}) {
  await trustHere(directory);
  const { host, stdout, stderr } = createTestHost({ directory, ...options });
  const exitCode = await runProgram(argv, host, '0');
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

const toScript = (...calls: readonly { readonly name: string; readonly arguments: unknown }[]): string =>
  JSON.stringify({ turns: [{ calls }, { text: 'Done.' }] });
const scripted = ['run', 'Do it.', '--model', 'script:script.json'];

test.each([
  { request: '读取 notes.txt 然后统计字数', says: 'I read English only' },
  { request: 'اقرأ الملف', says: 'I read English only' },
  { request: '🎉🎉👩‍👩‍👧', says: 'does not name an action' },
])('the offline model rejects an unreadable request: $request', async ({ request, says }) => {
  await using folder = await createFolder({ 'notes.txt': 'milk' });
  for (const columns of [20, 80]) {
    const { exitCode, stdout } = await run(['run', request], folder.path, { terminals: ['stdout'], columns });
    expect(exitCode).toBe(0);
    expect(stdout.replaceAll(/[\s|]+/g, ' ')).toContain(says);
    expect(stdout).toContain('no calls');
  }
});

test('a request of 10 MB is run, logged and shown in seconds', async () => {
  await using folder = await createFolder({ 'a.txt': 'x' });
  const input = 'Read the file a.txt. '.repeat(500_000);
  const started = performance.now();
  const { exitCode, stdout, stderr } = await runMain(['run', '-'], { folder: folder.path, input });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain('I read requests of at most 8000 characters; this one has 10500000.');
  const shown = await run(['show'], folder.path, { terminals: ['stdout'] });
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout.length).toBeLessThan(100_000);
  // Takes less than two seconds; extra passes over the text per line or character would take minutes.
  expect(performance.now() - started).toBeLessThan(60_000);
});

test('no question is asked when standard input held the request', async () => {
  await using folder = await createFolder({
    'plugins/wipe.mjs': toTool('wipe', 'return 1;').replace('dangerous: false', 'dangerous: true'),
    'script.json': toScript({ name: 'wipe', arguments: {} }),
  });
  await trustHere(folder.path);
  const { host, stdin, stdout } = createTestHost({ directory: folder.path, terminals: ['stdin', 'stdout'] });
  stdin.end('Do it.');
  expect(await runProgram(['run', '-', '--model', 'script:script.json'], host, '0')).toBe(0);
  expect(stdout()).toContain('Denied without asking (standard input was used for the request): wipe.');
});

const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0xff, 0xfe, 0x1b, 0x5b, 0x32, 0x4a]);

test.each([
  { name: 'read_file', arguments: { path: 'image.png' }, says: '`image.png` is not UTF-8 text' },
  {
    name: 'edit_file',
    arguments: { path: 'image.png', oldText: 'P', newText: 'Q' },
    says: 'deny: read-before-write',
  },
  { name: 'write_file', arguments: { path: 'image.png', content: 'text' }, says: 'deny: read-before-write' },
  { name: 'grep_files', arguments: { pattern: 'P' }, says: 'ok        grep_files' },
])('$name and a binary file', async ({ says, ...call }) => {
  await using folder = await createFolder({ 'script.json': toScript(call) });
  await folder.write('image.png', binary);
  const { exitCode, stdout } = await run(scripted, folder.path);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(says);
  expect(stdout).not.toContain('\x1b');
  expect(await readFile(join(folder.path, 'image.png'))).toEqual(binary);
});

test('a broken tool file disables only its own tool', async () => {
  await using folder = await createFolder({
    'plugins/good.mjs': toTool('good', "return 'fine';"),
    'plugins/broken.mjs': 'export const METADATA = {\n  name: \n',
    'script.json': toScript({ name: 'good', arguments: {} }),
  });
  const { exitCode, stdout, stderr } = await run(scripted, folder.path);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('ok        good');
  expect(stderr).toMatch(/^\.\/plugins\/broken\.mjs:\d+:\d+ error /);
});

test.each([
  ['a workspace that is a file', ['--workspace', 'a.txt'], 'usage.invalid: workspace_missing'],
  ['a workspace that leads to itself', ['--workspace', 'loop'], 'usage.invalid: workspace_missing'],
  ['a tools folder that is a file', ['--tools', 'a.txt'], 'usage.invalid: folder_missing'],
  ['a tools folder that is the workspace', ['--tools', '.'], 'usage.invalid: tools_around_workspace'],
  ['an unknown flag', ['--no-such'], "unknown option '--no-such'"],
])('%s is a usage error', async (_what, flags, says) => {
  await using folder = await createFolder({ 'a.txt': '' });
  await folder.link('loop', 'loop');
  const { exitCode, stdout, stderr } = await run(['run', 'x', ...flags], folder.path);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect((await readdir(folder.path)).sort()).toEqual(['a.txt', 'loop']);
});

test('unreadable logs are an error with a reason', async () => {
  await using folder = await createFolder({ '.holdfast/sessions': 'not a folder' });
  const { exitCode, stderr } = await run(['show'], folder.path);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/Cannot read the session logs in `.+`: ENOTDIR.+\(log\.unreadable\)/);
  const doctor = await run(['doctor'], folder.path);
  expect(doctor.exitCode).toBe(1);
});

test('a log cut inside a record: the valid part, the position and exit code 1', async () => {
  await using folder = await createFolder({ 'notes.txt': 'milk' });
  await run(['run', 'Read notes.txt'], folder.path);
  const path = join(findLogFolder(folder.path), (await readdir(findLogFolder(folder.path)))[0] ?? '');
  const bytes = await readFile(path);
  const lineStart = bytes.lastIndexOf(10, bytes.length - 2) + 1;
  await folder.write(path, bytes.subarray(0, lineStart + 20));
  const { exitCode, stdout } = await run(['show'], folder.path);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('Request: Read notes.txt');
  expect(stdout).toContain(`The log is torn: the last 20 bytes, from byte ${lineStart}, are an incomplete record.`);
  const json = await run(['show', '--json'], folder.path);
  expect(json.exitCode).toBe(1);
  expect(json.stdout.trimEnd().split('\n')).toHaveLength(readLog(path).records.length);
  expect(json.stderr).toContain(`from byte ${lineStart}`);
});

const hostile = '\x1b[2J\x1b]0;title\x07\x9b31m\u202egnp.exe\r\nok';

test.each([[], ['--json']])('hostile text is escaped on terminals %s', async (...flags) => {
  const body = `context.progress(${JSON.stringify(hostile)});
    await context.filesystem.write(${JSON.stringify(`${hostile.replaceAll(/[\r\n\0/]/g, '')}.txt`)}, 'x');
    return { text: ${JSON.stringify(hostile)} };`;
  await using folder = await createFolder({
    'plugins/say.mjs': toTool('say', body, 'state'),
    'plugins/fail.mjs': toTool('fail', `throw new Error(${JSON.stringify(hostile)});`),
    [`plugins/bad\x1b[2J.mjs`]: `export const METADATA = { name: ${JSON.stringify(hostile)} };`,
    'script.json': JSON.stringify({
      turns: [
        {
          text: hostile,
          calls: [
            { name: 'say', arguments: {} },
            { name: 'fail', arguments: {} },
            { name: hostile, arguments: { [hostile]: hostile } },
            { name: 'read_file', arguments: { path: hostile } },
          ],
        },
        { text: `Done. ${hostile}` },
      ],
    }),
  });
  const ran = await run([...scripted, ...flags], folder.path);
  const shown = await run(['show', ...flags], folder.path);
  const explained = await Promise.all(
    ['call_1_0', 'call_1_1', 'call_1_2', 'call_1_3'].map((id) => run(['why', id, ...flags], folder.path)),
  );
  const replayed = await run(['replay', ...flags], folder.path);
  const unknown = await run(['why', hostile, hostile], folder.path);
  const listed = await run(['list', ...flags], folder.path);
  const checked = await run(['check', 'plugins', ...flags], folder.path);
  const refused = await run(['run', hostile, '--allow', hostile, '--model', 'offline'], folder.path);
  for (const { stdout, stderr } of [ran, shown, ...explained, replayed, unknown, listed, checked, refused]) {
    expect((stdout + stderr).replaceAll('\n', '').match(unprintable())).toBeNull();
  }
  for (const { exitCode } of [ran, ...explained, replayed]) expect(exitCode).toBe(0);
  expect(ran.stdout).toContain('fail');
});

test.each(["it's a folder", 'with "quotes"', '文件 夹'])('a workspace named %s', async (name) => {
  await using folder = await createFolder({ [`${name}/notes.txt`]: 'milk\n' });
  const { exitCode, stdout } = await run(['run', 'Read notes.txt', '--workspace', name], folder.path);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('milk');
  expect(await run(['show', '--workspace', name], folder.path)).toMatchObject({ exitCode: 0 });
  const hint = stdout.trimEnd().split('\n').at(-1) ?? '';
  expect(hint).toContain(` --workspace '${name.replaceAll("'", "'\\''")}'`);
});

test('NO_COLOR at a terminal: the live view without colors', async () => {
  await using folder = await createFolder({ 'notes.txt': 'milk\n' });
  const options = { terminals: ['stdout', 'stderr'], environment: { NO_COLOR: '1' } } as const;
  const { stdout } = await run(['run', 'Read notes.txt'], folder.path, options);
  expect(stdout.match(new RegExp(`${'\x1b'}\\[[\\d;]*m`))).toBeNull();
});

test.each(['run', 'list'])('%s at a terminal of 20 columns', async (command) => {
  await using folder = await createFolder({ 'notes.txt': 'milk\n' });
  const argv = command === 'run' ? ['run', 'Read notes.txt'] : ['list'];
  const { exitCode, stdout } = await run(argv, folder.path, { terminals: ['stdout'], columns: 20 });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('read_fi');
});

test('two concurrent runs in one workspace: every reported change is made', async () => {
  const bump = `const count = Number(await context.filesystem.readText('count.txt'));
    await context.filesystem.write('count.txt', String(count + 1));
    return count + 1;`;
  const turns = Array.from({ length: 40 }, () => ({ calls: [{ name: 'bump', arguments: {} }] }));
  await using folder = await createFolder({
    'count.txt': '0',
    'plugins/bump.mjs': toTool('bump', bump, 'state'),
    'script.json': JSON.stringify({ turns: [...turns, { text: 'Done.' }] }),
  });
  const argv = [...scripted, '--json', '--max-rounds', '50'];
  const runs = await Promise.all([0, 1].map(() => runMain(argv, { folder: folder.path })));
  expect(runs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
    [0, 1].map(() => ({ exitCode: 0, stderr: '' })),
  );
  const ends = runs.flatMap(({ stdout }) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'tool-call-end'),
  );
  const done = ends.filter(({ outcome }) => outcome.kind === 'ok');
  expect(Number(await readFile(join(folder.path, 'count.txt'), 'utf8'))).toBe(done.length);
  for (const { outcome } of ends) expect(['ok', 'file.conflict']).toContain(outcome.code ?? outcome.kind);
  const logs = await readdir(findLogFolder(folder.path));
  expect(logs).toHaveLength(2);
  for (const name of logs) expect(readLog(join(findLogFolder(folder.path), name))).not.toHaveProperty('problem');
});
