import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from '../../testing/test-host.ts';
import { type Ended, runHere, runMain, toTool } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

interface SlugFile {
  readonly body?: string;
  readonly output?: string;
  readonly more?: string;
}

/** A tool with an argument and an example. */
function toSlug({ body = 'return title.toLowerCase();', output = "'milk'", more = '' }: SlugFile = {}): string {
  return `export const METADATA = {
  name: 'make_slug', function: 'makeSlug', description: 'Makes a slug.', dangerous: false, ${more}
  parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  examples: [{ description: 'One word', input: { title: 'Milk' }, output: ${output} }],
};
export function makeSlug({ title }, context) { ${body} }
`;
}

/** Replaces durations with `N ms`. */
const withoutTimes = (text: string): string => text.replaceAll(/\d+(?:\.\d+)? m?s/g, 'N ms');

async function tryFile(
  source: string,
  argv: readonly string[] = [],
  options: TestHostOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const { files = {}, ...rest } = options;
  await using folder = await createFolder({ 'plugins/tool.mjs': source, ...files });
  const ended = await runHere(['try', 'plugins/tool.mjs', ...argv], { directory: folder.path, ...rest });
  return { ...ended, stdout: withoutTimes(ended.stdout) };
}

async function tryJson(source: string, argv: readonly string[] = [], options: TestHostOptions = {}) {
  const { exitCode, stdout } = await tryFile(source, ['--json', ...argv], options);
  const printed = JSON.parse(stdout);
  expect(findIssues(await readSchema('try'), printed)).toEqual([]);
  return { exitCode, printed };
}

test('a valid tool is shown as seen by a person and by a model', async () => {
  expect(await tryFile(toSlug())).toEqual({
    exitCode: 0,
    stdout: `make_slug  effects none, repeat safe, runs in its own process

example 1: One word  {"title":"Milk"}
  ok after N ms, matches the example
  value     "milk"
  model     "milk"

passed: 1 call
`,
    stderr: '',
  });
});

test('--input is called besides the examples, like a call of a model', async () => {
  const { exitCode, stdout } = await tryFile(toSlug(), ['--input', '{"title": "Rye Bread"}']);
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('passed: 2 calls\n') });
  expect(stdout).toContain('\ninput  {"title": "Rye Bread"}\n  ok after N ms\n  value     "rye bread"\n');
});

test.each([
  { input: '{"title": 3}', code: 'arguments.invalid', says: '`title`' },
  { input: '{"title": "a", "title": "b"}', code: 'arguments.invalid', reason: 'duplicate_key', says: 'twice' },
  { input: '{"title": "a", "more": 1}', code: 'arguments.invalid', says: '`more`' },
  { input: '{"title": ', code: 'arguments.invalid', reason: 'malformed', says: 'not JSON' },
  { input: '', code: 'arguments.invalid', says: 'title' },
])('$input ends like a call of a model: $code', async ({ input, code, reason, says }) => {
  const { exitCode, printed } = await tryJson(toSlug(), ['--input', input]);
  expect(exitCode).toBe(1);
  expect(printed).toMatchObject({
    ok: false,
    calls: [{ purpose: 'example' }, { purpose: 'input' }],
  });
  expect(printed.calls[1].outcome).toMatchObject({
    kind: 'invalid',
    code,
    ...(reason === undefined ? {} : { reason }),
    text: expect.stringContaining(says),
  });
  const { stdout } = await tryFile(toSlug(), ['--input', input]);
  const shown = reason === undefined ? code : `${code}: ${reason}`;
  expect(stdout).toContain(`\n  invalid (${shown}) after N ms\n  model     `);
  expect(stdout).toContain('failed: 2 calls, 1 failed\n');
});

test('a thrown error is shown as seen by a model; its stack only for debugging', async () => {
  const source = toSlug({ body: "throw new TypeError('no such shelf');" });
  const { exitCode, stdout } = await tryFile(source);
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('\n  failed (tool.threw) after N ms\n  model     no such shelf\n\n'),
  });
  const debugged = await tryFile(source, ['--isolation', 'in-process'], {
    environment: { NO_COLOR: '1', HOLDFAST_DEBUG: '1' },
  });
  expect(debugged.stdout).toMatch(/\n {2}thrown {4}TypeError: no such shelf\n {16}at makeSlug /);
});

test('an example with another result is reported with the difference, with exit code 1', async () => {
  const source = toSlug({ body: 'return { slug: [title] };', output: "{ slug: ['milk'] }" });
  const { exitCode, stdout } = await tryFile(source);
  expect(exitCode).toBe(1);
  expect(stdout).toContain(
    '  ok after N ms, but differs from the example\n  differs    {\n               "slug": [\n            -    "milk"\n            +    "Milk"\n',
  );
  expect(stdout).toContain('\nfailed: 1 call, 1 mismatch\n');
  const { printed } = await tryJson(source);
  expect(printed.ok).toBe(false);
  expect(printed.calls[0]).toMatchObject({
    asExample: false,
    expected: { slug: ['milk'] },
  });
});

test('each call sees the same files, and its writes are shown and discarded', async () => {
  const body = `const before = [];
    for await (const { path } of context.filesystem.walk()) before.push(path);
    await context.filesystem.write('notes/new.txt', 'x');
    return before;`;
  const source = toTool('look', body, 'state');
  const empty = await tryFile(source);
  expect(empty).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('value     []\n') });
  expect(empty.stdout).toContain('  files     + created notes/new.txt\n');

  const example = "examples: [{ description: 'One', input: {}, output: ['kept.txt'] }],\n  parameters:";
  const twice = source.replace('parameters:', () => example);
  await using folder = await createFolder({ 'plugins/tool.mjs': twice, 'work/kept.txt': 'as it was\n' });
  const argv = ['try', 'plugins/tool.mjs', '--input', '{}', '--workspace', 'work', '--json'];
  const { exitCode, stdout } = await runHere(argv, { directory: folder.path });
  const { calls } = JSON.parse(stdout);
  expect({ exitCode, calls: calls.length }).toEqual({ exitCode: 0, calls: 2 });
  for (const { outcome, writes } of calls) {
    expect(outcome.value).toContain('kept.txt');
    expect(outcome.value).not.toContain('notes/new.txt');
    expect(writes).toEqual([{ path: 'notes/new.txt', change: 'created' }]);
  }
  await expect(readFile(join(folder.path, 'work/notes/new.txt'))).rejects.toThrow('ENOENT');
});

test('workspace files are not changed, and the tools folder is inaccessible', async () => {
  const body = `await context.filesystem.write('kept.txt', 'changed');
    await context.filesystem.remove('gone.txt');
    const text = await context.filesystem.readText('kept.txt');
    await context.filesystem.write('plugins/tool.mjs', 'mine').catch((error) => { throw new Error(text + ' ' + error.code); });`;
  const files = {
    'plugins/tool.mjs': toTool('change', body, 'state'),
    'kept.txt': 'as it was\n',
    'gone.txt': 'there\n',
  };
  await using folder = await createFolder(files);
  const { exitCode, stdout } = await runHere(['try', 'plugins/tool.mjs', '--workspace', '.'], {
    directory: folder.path,
  });
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/model {5}changed (?:path|file)\./),
  });
  for (const [path, text] of Object.entries(files)) expect(await readFile(join(folder.path, path), 'utf8')).toBe(text);
});

test('an invalid file exits with 1 without running; other files of the folder do not matter', async () => {
  const files = { 'plugins/other.mjs': 'export const METADATA = make();' };
  const source = `globalThis.ran = true;\nexport const METADATA = { name: 'a' + 'b', function: 'act' };\nexport function act() {}`;
  const { exitCode, stdout } = await tryFile(source, [], { files });
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /^plugins\/tool\.mjs:2:\d+ error tool\.metadata\.invalid: not_literal .+\n {2}hint: .+\nThe file is invalid; nothing was called\.\n$/,
  );
  expect(globalThis).not.toHaveProperty('ran');
  expect((await tryJson(source)).printed).toMatchObject({ tool: null, calls: [], ok: false });
  expect(await tryFile(toSlug(), [], { files })).toMatchObject({ exitCode: 0, stderr: '' });
});

test('warnings are printed, an undeclared tool needs approval, and an example that does not match the schema fails', async () => {
  const undeclared = toSlug().replace(' dangerous: false,', '');
  const warning = expect.stringContaining('warning tool.metadata.invalid: dangerous.missing');
  expect(await tryFile(undeclared, ['--allow', 'make_slug'])).toMatchObject({ exitCode: 0, stdout: warning });
  const denied = await tryFile(undeclared);
  expect(denied).toMatchObject({ exitCode: 1, stdout: warning });
  expect(denied.stdout).toContain('approve it. `make_slug` says neither `dangerous` nor `effects`.');
  const unfit = await tryFile(toSlug().replace("title: 'Milk'", 'title: 3'));
  expect(unfit).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('error tool.invalid: example.invalid') });
});

test('a tool without required arguments is called without any', async () => {
  expect(await tryFile(toTool('plain', 'return 1;'))).toMatchObject({ exitCode: 0 });
  const optional = toSlug({ body: 'return title ?? null;' })
    .replace(" required: ['title'] ", '')
    .replace(/ {2}examples.*\n/, '');
  expect(await tryFile(optional)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('\ninput  {}\n') });
});

test.each([['in-process'], ['worker'], ['subprocess']])(
  'a command with --isolation %s runs in its own process',
  async (isolation) => {
    const command = {
      name: 'plain',
      description: 'Acts.',
      dangerous: false,
      command: ['echo', '1'],
      examples: [{ description: 'Nothing', input: {}, output: 1 }],
    };
    await using folder = await createFolder({ 'plugins/plain.tool.json': JSON.stringify(command) });
    const argv = ['try', 'plugins/plain.tool.json', '--isolation', isolation];
    const { exitCode, stdout } = await runHere(argv, { directory: folder.path });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('runs in its own process\n');
  },
);

test('a tool is tried with the configured isolation, unless an option is given', async () => {
  const files = { 'holdfast.config.mjs': "export default { isolation: 'worker' };" };
  expect((await tryFile(toSlug(), [], { files })).stdout).toContain('runs in a thread');
  expect((await tryFile(toSlug(), ['--no-config'], { files })).stdout).toContain('runs in its own process');
  const argv = ['--isolation', 'in-process'];
  expect((await tryFile(toSlug(), argv, { files })).stdout).toContain('runs in this process');
  const wrong = { 'holdfast.config.mjs': "export default { isolation: 'none' };" };
  expect(await tryFile(toSlug(), [], { files: wrong })).toMatchObject({ exitCode: 2, stdout: '' });
});

test.each([
  { argv: ['gone.mjs'], code: 'usage.invalid: file_missing', says: 'the path of a tool file' },
  {
    argv: ['plugins'],
    code: 'usage.invalid: file_missing',
    says: 'check the whole folder with `holdfast check plugins`',
  },
  { argv: ['plugins/_part.mjs'], code: 'usage.invalid: file_not_tool' },
  { argv: ['plugins/notes.txt'], code: 'usage.invalid: file_not_tool' },
  { argv: ['plugins/bare.mjs'], code: 'usage.invalid: input_missing' },
  { argv: ['plugins/slug.mjs', '--allow', 'other'], code: 'usage.invalid: tool_unknown' },
  { argv: ['plugins/slug.mjs', '--workspace', 'gone'], code: 'usage.invalid: workspace_missing' },
  { argv: ['plugins/slug.mjs', '--workspace', 'plugins'], code: 'usage.invalid: tools_around_workspace' },
])('$argv: $code, before anything runs', async ({ argv, code, says = '' }) => {
  const part = toTool('part', 'return 1;');
  await using folder = await createFolder({
    'plugins/_part.mjs': part,
    'plugins/notes.txt': part,
    'plugins/bare.mjs': toSlug()
      .replace(/ {2}examples.*\n/, '')
      .replaceAll('make_slug', 'bare'),
    'plugins/slug.mjs': toSlug(),
  });
  const ended = await runHere(['try', ...argv], { directory: folder.path });
  expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`(${code})`) });
  expect(ended.stderr).toContain(says);
});

const dangerous = toSlug().replace('dangerous: false', "dangerous: true, effects: 'state'");

test('without a terminal a dangerous tool is denied unless it is allowed', async () => {
  const { exitCode, stdout } = await tryFile(dangerous);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('\n  denied (approval.unattended) after N ms\n');
  expect(stdout).toContain('\n  note      Use `--allow make_slug` to run it without asking.\n');
  expect(stdout).toContain('\nfailed: 1 call, 1 failed\n');
  expect(await tryFile(dangerous, ['--allow', 'make_slug'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('repeat never, dangerous, runs in its own process'),
  });
});

const down = '\x1b[B';
test.each([
  { answer: 'once, each time', keys: '\x1b[A\x1b[A\r', questions: 2, exitCode: 0 },
  { answer: 'for all of it', keys: '\x1b[A\r', questions: 1, exitCode: 0 },
  { answer: 'no', keys: '\r', questions: 1, exitCode: 1 },
  { answer: 'no, there is no later', keys: `${down}${down}${down}\r`, questions: 1, exitCode: 1 },
  { answer: 'Ctrl-C', keys: '\x03', questions: 1, exitCode: 130 },
])('answering "$answer" leads to $questions questions', async ({ keys, questions, exitCode }) => {
  await using folder = await createFolder({ 'plugins/tool.mjs': dangerous });
  const { host, stdin, stdout } = createTestHost({
    directory: folder.path,
    terminals: ['stdin', 'stdout'],
    environment: { NO_COLOR: '1' },
  });
  let asked = 0;
  host.stdout.on('data', (chunk: Buffer) => {
    if (!chunk.includes('  asking  ')) return;
    asked += 1;
    stdin.write(keys);
  });
  const argv = ['try', 'plugins/tool.mjs', '--input', '{"title": "Milk"}'];
  expect(await runProgram(argv, host, '0')).toBe(exitCode);
  expect(asked).toBe(questions);
  expect(stdout()).not.toContain('Decide later');
});

test('output of a tool goes to stderr, with control characters escaped', async () => {
  const source = toSlug({ body: "console.log('printed'); return '\\x1b[2J\\u202e' + title;", output: "'x'" });
  await using folder = await createFolder({ 'plugins/tool.mjs': source });
  const { stdout, stderr } = await runMain(['try', 'plugins/tool.mjs', '--json'], { folder: folder.path });
  expect(JSON.parse(stdout).calls[0].outcome.value).toBe('\x1b[2J\u202eMilk');
  expect(stderr).toBe('printed\n');
  const shown = await runMain(['try', 'plugins/tool.mjs'], { folder: folder.path });
  for (const character of ['\x1b', '\u202e']) expect(shown.stdout).not.toContain(character);
  expect(shown.stdout).not.toContain('printed');
});

test('colors only if enabled', async () => {
  for (const [environment, coloured] of [
    [{ NO_COLOR: '1' }, false],
    [{}, false],
    [{ FORCE_COLOR: '1' }, true],
  ] as const)
    expect((await tryFile(toSlug(), [], { environment })).stdout.includes('\x1b[')).toBe(coloured);
});

test('a tool that differs from the lock is tried anyway', async () => {
  await using folder = await createFolder({ 'plugins/tool.mjs': toSlug() });
  const run = (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: folder.path });
  expect(await run('lock')).toMatchObject({ exitCode: 0 });
  await folder.write('plugins/tool.mjs', toSlug({ body: "return 'mi' + 'lk';" }));
  expect(await run('lock', '--check')).toMatchObject({ exitCode: 1 });
  expect(await run('try', 'plugins/tool.mjs')).toMatchObject({ exitCode: 0 });
});

test("a call that never ends is stopped by --timeout, or by the tool's own limit", async () => {
  const never = 'return new Promise(() => {});';
  const soon = ['--timeout', '0.01'];
  const { exitCode, printed } = await tryJson(toTool('never', never), soon);
  expect(exitCode).toBe(1);
  expect(printed.calls[0]).toMatchObject({ cutShort: true, abandoned: false, outcome: { kind: 'timed-out' } });
  const trusted = await tryJson(toTool('never', never), [...soon, '--isolation', 'in-process']);
  expect(trusted.printed.calls[0]).toMatchObject({ cutShort: true, abandoned: true, outcome: { kind: 'timed-out' } });
  const own = toTool('never', never).replace("'none',", "'none', timeoutMs: 1,");
  expect((await tryJson(own)).printed.calls[0]).toMatchObject({ cutShort: false, outcome: { kind: 'timed-out' } });
  const { stdout } = await tryFile(toTool('never', never), [...soon, '--isolation', 'in-process']);
  expect(stdout).toContain('  note      The tool did not stop when asked; its late result is ignored.\n');
  expect(stdout).toContain('Raise `--timeout`.');
});
