import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HoldfastError, JsonObject, Tool, ToolContext } from '@holdfast/core';
import { copyJson } from '@holdfast/core/internal';
import type { LoadToolsOptions } from '@holdfast/loader';
import { describeIsolation } from '@holdfast/loader/internal';
import { findProgramFolders } from '@holdfast/loader/language';
import { afterEach, expect, test, vi } from 'vitest';
import { commandFile, createCommandProject, createScript } from '../test-commands.ts';
import { codesOf, compareLock, loadTools, type TestProject, testContext, until } from '../test-project.ts';

afterEach(() => void vi.unstubAllEnvs());

interface Called {
  readonly value?: unknown;
  readonly code?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Calls the first tool of a project once. */
async function call(
  project: TestProject,
  {
    input = {},
    context = testContext(),
    ...options
  }: { readonly input?: JsonObject; readonly context?: ToolContext } & LoadToolsOptions = {},
): Promise<Called> {
  const loaded = await loadTools(project.plugins, options);
  try {
    expect(codesOf(loaded)).toEqual([]);
    return await callTool(loaded.tools[0], input, context);
  } finally {
    await loaded.close();
  }
}

async function callTool(
  tool: Tool | undefined,
  input: JsonObject,
  context: ToolContext = testContext(),
): Promise<Called> {
  try {
    const value = await tool?.execute?.(input, context);
    const copied = copyJson(value);
    return copied.ok ? { value: copied.value } : { code: 'no JSON', message: copied.problem };
  } catch (thrown) {
    const { code, reason, message } = thrown as HoldfastError;
    return { code: String(code), ...(reason === undefined ? {} : { reason }), message: String(message) };
  }
}

test('arguments are one JSON text on standard input, the result is one on standard output', async () => {
  await using project = await createScript('printf \'{"got": %s}\\n\' "$(cat)"');
  const input = { text: 'ü "\n\u2028' };
  expect(await call(project, { input })).toEqual({ value: { got: input } });
});

test('a program of the PATH runs a file of the folder; other words are unchanged', async () => {
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['sh', './say.txt', '--x', 'a b', '$HOME', '.', 'x./y']),
    'plugins/say.txt': 'printf \'["%s", "%s", "%s", "%s", "%s", %s]\' "$(basename "$0")" "$1" "$2" "$3" "$4" $#',
  });
  expect(await call(project)).toEqual({ value: ['say.txt', '--x', 'a b', '$HOME', '.', 5] });
});

test.each([
  ['an object', 'echo \'{"a": [1, null, "x"]}\'', { a: [1, null, 'x'] }],
  ['a text', 'echo \'"x"\'', 'x'],
  ['null', 'echo null', null],
  ['white space around it', "printf '\\n\\t 1 \\r\\n\\n'", 1],
  ['without an end of line', 'printf true', true],
])('%s is a valid answer', async (_, script, value) => {
  await using project = await createScript(script);
  expect(await call(project)).toEqual({ value });
});

test.each([
  ['nothing', 'true', 'it is empty'],
  ['white space', 'echo', 'it is empty'],
  ['text', 'echo hello', 'it is not JSON'],
  ['half of a value', 'printf \'{"a": [1,\'', 'it is not JSON'],
  ['two values', 'echo 1; echo 2', 'it is not JSON'],
  ['NaN', 'echo NaN', 'it is not JSON'],
  ['a number without an end', 'echo 1e999', 'a number that is too large'],
  ['a key twice', 'echo \'{"a":1,"a":2}\'', 'a key twice'],
  ['the key __proto__', 'echo \'{"__proto__":1}\'', '__proto__'],
  ['65 levels', `printf '%s1%s' '${'['.repeat(65)}' '${']'.repeat(65)}'`, 'nested deeper than 64'],
  ['what is not UTF-8', 'printf \'"\\377"\'', 'it is not UTF-8 text'],
])('%s is not a valid answer', async (_, script, problem) => {
  await using project = await createScript(script);
  expect(await call(project)).toEqual({ code: 'no JSON', message: expect.stringContaining(problem) });
});

test('standard error is printed, and becomes the error message on a non-zero exit code', async () => {
  await using project = await createScript('echo working >&2; echo 1; exit $(cat | tr -dc 0-9)');
  const told: string[] = [];
  const processes = { print: (text: string) => void told.push(text) };
  expect(await call(project, { input: { text: '0' }, processes })).toEqual({ value: 1 });
  expect(await call(project, { input: { text: '3' }, processes })).toEqual({
    code: 'tool.failed',
    reason: 'exit_code',
    message: 'working',
  });
  expect(told).toEqual(['working\n', 'working\n']);
});

test.each([
  ['nothing', 'exit 7', '`count` ended with exit code 7 and wrote nothing to standard error.'],
  ['lines', 'printf "one\\r\\n\\ntwo \\n" >&2; exit 1', 'one\n\ntwo'],
  ['escapes', 'printf "a\\033[31mb\\a" >&2; exit 1', 'a\\u{1b}[31mb\\u{7}'],
  ['what is not UTF-8', 'printf "a\\377b" >&2; exit 1', 'a\ufffdb'],
  ['a path of the host', 'echo "$0: /etc/secret/place is gone" >&2; exit 1', 'count.sh: place is gone'],
])('an error text that is %s is cleaned for the model', async (_, script, message) => {
  await using project = await createScript(script);
  expect(await call(project)).toEqual({ code: 'tool.failed', reason: 'exit_code', message });
});

test('a long error is cut to its end', async () => {
  await using project = await createScript('head -c 100000 /dev/zero | tr "\\0" x >&2; echo "the end" >&2; exit 1');
  const { message = '' } = await call(project);
  expect(message).toHaveLength(1000);
  expect(message).toMatch(/^…x+the end$/);
});

test('an ending signal is reported', async () => {
  await using project = await createScript('kill -SEGV $$');
  expect(await call(project)).toEqual({
    code: 'tool.process.lost',
    reason: 'exited',
    message: 'The process of `count` ended by SIGSEGV before the call was complete.',
  });
});

test('environment variables contain data of the call', async () => {
  vi.stubEnv('HOLDFAST_CALL_ID', 'of another one');
  await using project = await createScript(
    'printf \'["%s", "%s", "%s"]\' "$HOLDFAST_CALL_ID" "$HOLDFAST_IDEMPOTENCY_KEY" "$HOLDFAST_REMAINING_MS"',
  );
  const context = testContext({ remainingMs: 60_000.9 });
  expect(await call(project, { context })).toEqual({ value: ['call-1', 'key-1', '60000'] });
  expect(await call(project)).toEqual({ value: ['call-1', 'key-1', ''] });
});

test('a program may ignore its input', async () => {
  await using project = await createScript('exec 0<&-; echo 1');
  expect(await call(project, { input: { text: 'x'.repeat(1_000_000) } })).toEqual({ value: 1 });
});

test('a program that is not on the PATH is reported on the call; the current folder is not searched', async () => {
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['count-for-this-test']),
    'count-for-this-test': 'echo 1',
  });
  await chmod(join(project.root, 'count-for-this-test'), 0o755);
  const directory = process.cwd();
  process.chdir(project.root);
  try {
    vi.stubEnv('PATH', `:.:${process.env['PATH']}`);
    expect(await call(project)).toEqual({
      code: 'tool.process.not_started',
      reason: 'command',
      message: '`count` needs the program `count-for-this-test`, which is not on the PATH: install it.',
    });
    vi.stubEnv('PATH', `${project.root}:${process.env['PATH']}`);
    expect(await call(project)).toEqual({ value: 1 });
  } finally {
    process.chdir(directory);
  }
});

test('too much output kills it', async () => {
  await using project = await createScript('yes | head -c 4194305; sleep 600');
  expect(await call(project)).toMatchObject({ code: 'tool.request.invalid', reason: 'too_large' });
});

test('too much standard error kills it', async () => {
  await using project = await createScript('yes >&2');
  const told: string[] = [];
  const processes = { print: (text: string) => void told.push(text) };
  expect(await call(project, { processes })).toMatchObject({ code: 'tool.process.lost', reason: 'flood' });
  expect(told.join('').length).toBeLessThan(100_000);
});

test('the signal of the call kills it and the programs it started', async () => {
  await using project = await createScript('sleep 600 & (sleep 600 & sleep 600) & echo $! >&2; sleep 600');
  const context = testContext();
  const told: string[] = [];
  const loaded = await loadTools(project.plugins, { processes: { print: (text) => void told.push(text) } });
  const called = callTool(loaded.tools[0], {}, context);
  await until(() => told.join('').endsWith('\n'));
  const pid = told.join('').trim();
  const running = (): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readStatus(pid));
  expect(running()).toBe(true);
  context.abort(new Error('too late'));
  expect(await called).toMatchObject({ message: 'too late' });
  await until(() => !running());
  await loaded.close();
});

function readStatus(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 'State: Z';
  }
}

test('programs left in its group are killed at its end without delay', async () => {
  await using project = await createScript('sleep 600 & echo 1');
  expect(await call(project)).toEqual({ value: 1 });
});

test('a program that leaves the group and keeps the pipes open does not delay the answer', async () => {
  await using project = await createScript(`setsid sh -c 'echo up >"$0.up"; exec sleep 600' "$0" &
while [ ! -e "$0.up" ]; do :; done
echo $! >&2; echo 1`);
  const told: string[] = [];
  const processes = { print: (text: string) => void told.push(text) };
  try {
    expect(await call(project, { processes })).toEqual({ value: 1 });
  } finally {
    process.kill(Number(told.join('')), 'SIGKILL');
  }
});

test('an already aborted call starts nothing', async () => {
  await using project = await createScript('touch "$(dirname "$0")/ran"; echo 1');
  const context = testContext();
  context.abort(new Error('too late'));
  expect(await call(project, { context })).toMatchObject({ message: 'too late' });
  expect(readdirSync(project.plugins)).not.toContain('ran');
});

test('closing ends running calls and rejects later ones', async () => {
  await using project = await createScript('echo up >&2; sleep 600');
  const told: string[] = [];
  const loaded = await loadTools(project.plugins, { processes: { print: (text) => void told.push(text) } });
  const called = callTool(loaded.tools[0], {});
  await until(() => told.length > 0);
  await loaded.close();
  expect(await called).toEqual({
    code: 'tool.process.lost',
    reason: 'closed',
    message: 'The process of `count` was ended by its host.',
  });
  expect(await callTool(loaded.tools[0], {})).toMatchObject({ code: 'tool.process.lost', reason: 'closed' });
});

test.each(['count.tool.json', 'count.sh', 'words.txt'])(
  'without a lock, a %s that changed does not run',
  async (file) => {
    await using project = await createCommandProject({
      'plugins/count.tool.json': commandFile(['./count.sh'], { files: ['./words.txt'] }),
      'plugins/count.sh': '#!/bin/sh\necho 1\n',
      'plugins/words.txt': '',
    });
    const loaded = await loadTools(project.plugins);
    expect(await callTool(loaded.tools[0], {})).toEqual({ value: 1 });
    await project.write(`plugins/${file}`, '#!/bin/sh\ntouch /tmp/ran\n');
    expect(await callTool(loaded.tools[0], {})).toMatchObject({ code: 'tool.file.changed' });
    await project.remove(`plugins/${file}`);
    expect(await callTool(loaded.tools[0], {})).toMatchObject({ code: 'tool.file.changed' });
    // A FIFO does not block.
    execFileSync('mkfifo', [join(project.plugins, file)]);
    expect(await callTool(loaded.tools[0], {})).toMatchObject({ code: 'tool.file.changed' });
    await loaded.close();
  },
);

test('with a lock, copies of all files that the command names run, and stay executable', async () => {
  await using project = await createCommandProject({
    'plugins/deep/count.tool.json': commandFile(['./count.sh', './lib/words.txt'], { files: ['./lib/helper.sh'] }),
    'plugins/deep/count.sh':
      '#!/bin/sh\nhere=$(dirname "$0")\nprintf \'["%s", "%s"]\' "$(cat "$1")" "$("$here/lib/helper.sh")"\n',
    'plugins/deep/lib/words.txt': 'some words',
    'plugins/deep/lib/helper.sh': '#!/bin/sh\necho help\n',
  });
  const plugins = join(project.plugins, 'deep');
  const { lock } = project;
  await (await compareLock(plugins, { lock })).accept();
  const loaded = await loadTools(plugins, { lock });
  expect(codesOf(loaded)).toEqual([]);
  for (const file of ['count.sh', 'lib/words.txt', 'lib/helper.sh'])
    await project.write(`plugins/deep/${file}`, 'exit 1');
  expect(await callTool(loaded.tools[0], {})).toEqual({ value: ['some words', 'help'] });
  await loaded.close();
  expect(codesOf(await loadTools(plugins, { lock }))).toEqual(['count.tool.json lock.changed']);

  const locked = JSON.parse(await readFile(lock, 'utf8')).tools.count;
  expect(Object.keys(locked.files)).toEqual([
    'plugins/deep/count.sh',
    'plugins/deep/count.tool.json',
    'plugins/deep/lib/helper.sh',
    'plugins/deep/lib/words.txt',
  ]);
  expect(locked.metadata).toMatchObject({
    form: 'command',
    command: { words: ['./count.sh', './lib/words.txt'] },
  });
});

test('a changed binary file is shown with its size and digest', async () => {
  const bytes = (last: number): Uint8Array => new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, last]);
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['./count.sh', './utf16.txt']),
    'plugins/count.sh': bytes(1),
    'plugins/utf16.txt': new Uint8Array([0xff, 0xfe]),
  });
  await project.accept();
  await project.write('plugins/count.sh', bytes(2));
  const comparison = await project.compare();
  expect(comparison.tools).toMatchObject([{ state: 'changed', changes: [{ part: 'file', name: 'plugins/count.sh' }] }]);
  const { before, after } = await comparison.texts('count', 'plugins/count.sh');
  expect(before).toMatch(/^\(binary: 6 bytes, SHA-256 [\da-f]{64}\)\n$/);
  expect(after).toMatch(/^\(binary: 6 bytes, SHA-256 [\da-f]{64}\)\n$/);
  expect(after).not.toBe(before);
  expect((await comparison.texts('count', 'plugins/utf16.txt')).after).toContain('binary: 2 bytes');
});

test('a damaged copy is recreated and runs', async () => {
  await using project = await createScript('echo 1');
  await project.accept();
  const loaded = await loadTools(project.plugins, { lock: project.lock });
  const folder = join(project.root, '.holdfast/tools', readdirSync(join(project.root, '.holdfast/tools'))[0] ?? '');
  const copy = join(folder, 'files/plugins/count.sh');
  expect(statSync(copy).mode & 0o777).toBe(0o555);
  await chmod(copy, 0o755);
  await project.write(copy.slice(project.root.length + 1), '#!/bin/sh\necho 2\n');
  expect(await callTool(loaded.tools[0], {})).toEqual({ value: 1 });
  await loaded.close();
});

test('a locked command starts warm', async () => {
  await using project = await createScript('echo 1');
  await project.accept();
  const lock = { lock: project.lock };
  expect(await call(project, lock)).toEqual({ value: 1 });
  expect(await call(project, lock)).toEqual({ value: 1 });
});

test('in a sandbox it can access neither files nor network', async ({ skip }) => {
  const sandbox = (await describeIsolation()).find(({ tier }) => tier === 'sandbox');
  if (sandbox?.available !== true) skip(sandbox?.reason);
  await using project = await createScript('touch "$(dirname "$0")/ran" || echo \'"no"\'', { isolation: 'sandbox' });
  expect(await call(project)).toEqual({ value: 'no' });
  expect(readdirSync(project.plugins)).not.toContain('ran');
});

test('a sandbox shows a program of the PATH and its installation in any folder', async ({ skip }) => {
  const sandbox = (await describeIsolation()).find(({ tier }) => tier === 'sandbox');
  if (sandbox?.available !== true) skip(sandbox?.reason);
  // In the folder for temporary files, which a sandbox hides.
  await using installed = await createCommandProject({
    'own/lib/word': '"shown"',
    'own/libexec/run.sh': '#!/bin/sh\ncat "$(dirname "$0")/../lib/word"\n',
    'secret/word': '"seen"',
  });
  await installed.write(
    'own/bin/tell',
    `#!/bin/sh\ncat "${installed.root}/secret/word" || exec "${installed.root}/own/libexec/run.sh"\n`,
  );
  await chmod(join(installed.root, 'own/bin/tell'), 0o755);
  vi.stubEnv('PATH', `${installed.root}/own/bin:${process.env['PATH']}`);
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['tell'], { isolation: 'sandbox' }),
  });
  expect(await call(project)).toEqual({ value: 'shown' });
});

test('a program whose folder contains hidden data is not shown', async () => {
  const wide = join('/tmp', `holdfast-program-${process.pid}`);
  await writeFile(wide, '');
  try {
    expect(findProgramFolders(wide)).toEqual([]);
  } finally {
    await rm(wide);
  }
});

test('without a sandbox, no weaker isolation is used', async () => {
  vi.stubEnv('PATH', '/nowhere');
  await using project = await createScript('touch "$(dirname "$0")/ran"; echo 1');
  expect(await call(project, { isolation: 'sandbox' })).toMatchObject({
    code: 'tool.process.not_started',
    reason: 'isolation',
  });
  expect(readdirSync(project.plugins)).not.toContain('ran');
});

test.each(['in-process', 'worker', 'subprocess'] as const)(
  'in the tier %s it runs in a process of its own',
  async (isolation) => {
    await using project = await createScript('echo $PPID');
    expect(await call(project, { isolation })).toEqual({ value: process.pid });
  },
);

test('a failed start is reported', async () => {
  await using project = await createScript('echo 1');
  await project.write('plugins/count.tool.json', commandFile(['sh', 'x'.repeat(500_000)]));
  expect(await call(project)).toMatchObject({ code: 'tool.process.not_started' });
});
