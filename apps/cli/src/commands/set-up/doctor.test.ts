import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runHere, toTool } from '../../testing/test-program.ts';
import { examine } from './doctor.ts';

async function run(
  folder: TestFolder,
  {
    workspace = '.',
    tools,
    subfolders = false,
    node = '24.21.0',
    environment = {},
  }: {
    readonly workspace?: string;
    readonly tools?: string;
    readonly subfolders?: boolean;
    readonly node?: string;
    readonly environment?: Readonly<Record<string, string>>;
  } = {},
) {
  const text = createTestHost({ directory: folder.path, environment });
  const exitCode = await examine({ tools, subfolders, workspace, json: false }, text.host, node);
  const json = createTestHost({ directory: folder.path, environment });
  expect(await examine({ tools, subfolders, workspace, json: true }, json.host, node)).toBe(exitCode);
  return { exitCode, text: text.stdout(), json: JSON.parse(json.stdout()) };
}

test('a working setup: lists everything found, no problems, writes nothing', async () => {
  await using folder = await createFolder({
    'plugins/good.mjs': toTool('good', 'return 1;'),
    'plugins/bad.mjs': 'export const METADATA = make();',
    '.holdfast/sessions/20260517-093012345-k3x9.jsonl': '',
  });
  const { exitCode, text, json } = await run(folder);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({
    node: { version: '24.21.0', ok: true },
    tools: { folder: './plugins', found: true, good: 1, errors: 1, warnings: 0 },
    workspace: { path: folder.path, writable: true, sessions: 1, freeBytes: expect.any(Number) },
    isolation: {
      available: ['in-process', 'worker', 'subprocess'],
      tiers: [
        { tier: 'in-process', stops: [] },
        { tier: 'worker' },
        { tier: 'subprocess' },
        { tier: 'sandbox', available: false },
      ],
    },
    problems: [],
  });
  expect(json.packages).toContainEqual({ name: '@holdfast/core', version: expect.stringMatching(/^\d/) });
  expect(text).toContain('1 valid tool, 1 error, 0 warnings; run `holdfast check` for details');
  expect(text).toContain('isolation   in-process stops nothing: only for');
  expect(text).toMatch(
    /worker \(only for code you trust as your own\) stops a tool that ends its process, .*\n.*subprocess \(the default\) also stops a tool that blocks outside JavaScript/,
  );
  expect(text).toContain('sandbox: not available. The sandbox needs');
  expect(text).toContain('No problem found.');
});

test('an installed provider and its key, without the value', async () => {
  await using folder = await createFolder({
    'node_modules/@ai-sdk/openai/package.json': '{"name":"@ai-sdk/openai","version":"2.3.4","main":"index.js"}',
    'node_modules/@ai-sdk/groq/package.json': '{"name":"@ai-sdk/groq","version":"1.0.0"}',
  });
  const { text, json } = await run(folder, { environment: { OPENAI_API_KEY: 'sk-secret', ANTHROPIC_API_KEY: ' ' } });
  expect(json.providers).toEqual([
    { package: '@ai-sdk/openai', version: '2.3.4', variable: 'OPENAI_API_KEY', set: true },
    { package: '@ai-sdk/anthropic', version: null, variable: 'ANTHROPIC_API_KEY', set: false },
    expect.objectContaining({ package: '@ai-sdk/google', version: null }),
    { package: '@ai-sdk/groq', version: '1.0.0', variable: 'GROQ_API_KEY', set: false },
    expect.objectContaining({ package: '@ai-sdk/openai-compatible', variable: 'OPENAI_COMPATIBLE_BASE_URL' }),
  ]);
  expect(text).toContain('@ai-sdk/openai 2.3.4, OPENAI_API_KEY is set');
  expect(text + JSON.stringify(json)).not.toContain('sk-secret');
});

test('the lock beside the tools folder, and whether a run must read the tools again', async () => {
  await using folder = await createFolder({ 'plugins/one.mjs': toTool('one', 'return 1;') });
  const none = await run(folder);
  expect(none.json.tools.lock).toBe(null);
  expect(none.text).toContain('no holdfast.lock beside ./plugins: changes to tools go unnoticed');

  await runHere(['lock'], { directory: folder.path });
  const locked = await run(folder);
  expect(locked.json.tools.lock).toEqual({
    path: 'holdfast.lock',
    tools: { same: 1, new: 0, changed: 0, gone: 0, refused: 0 },
    unlockable: 0,
    registered: false,
  });
  expect(locked.text).toMatch(/^lock +holdfast\.lock: 1 tool as locked$/m);
  expect(locked.text).toMatch(/^registry +not current: a run reads every tool file/m);

  await passTick(folder);
  await runHere(['list'], { directory: folder.path });
  const listed = await run(folder);
  expect(listed.json.tools.lock.registered).toBe(true);
  expect(listed.text).toMatch(/^registry +current: a run reads no tool files$/m);

  await folder.write('plugins/one.mjs', toTool('one', 'return 2;'));
  await folder.write('plugins/two.mjs', toTool('two', 'return 2;'));
  const changed = await run(folder);
  expect(changed.exitCode).toBe(0);
  expect(changed.text).toContain('0 tools as locked, 1 new, 1 changed; run `holdfast lock --check` for details');
  expect(changed.json.tools.lock).toMatchObject({ registered: false, tools: { new: 1, changed: 1 } });
});

test('valid tools that cannot be locked are counted', async () => {
  const dynamic = toTool('two', 'return import(context.callId);');
  await using folder = await createFolder({
    'plugins/one.mjs': toTool('one', 'return 1;'),
    'plugins/two.mjs': dynamic,
  });
  await runHere(['lock'], { directory: folder.path });
  const { text, json } = await run(folder);
  expect(json.tools).toMatchObject({ good: 2, lock: { tools: { same: 1, refused: 0 }, unlockable: 1 } });
  expect(text).toContain('1 tool as locked, 1 that cannot be locked; run `holdfast lock --check` for details');
});

afterEach(() => vi.unstubAllEnvs());

test('the Python for tool files, and a machine without it', async () => {
  const version = '{"version": [3, 12, 1]}';
  const place = '{"program": "/opt/python/bin/python3.12", "folders": []}';
  await using folder = await createFolder({ 'bin/python3': `#!/bin/sh\necho '${version}'\necho '${place}'\n` });
  await chmod(join(folder.path, 'bin/python3'), 0o755);
  vi.stubEnv('PATH', join(folder.path, 'bin'));
  const found = await run(folder);
  expect(found.json.python).toEqual({ available: true, program: '/opt/python/bin/python3.12', reason: '' });
  expect(found.text).toMatch(/^Python +\/opt\/python\/bin\/python3\.12$/m);

  vi.stubEnv('PATH', join(folder.path, 'nowhere'));
  const none = await run(folder);
  expect(none.exitCode).toBe(0);
  expect(none.json.python).toEqual({ available: false, program: null, reason: 'there is no `python3` on the PATH' });
  expect(none.text).toMatch(/^Python +not available, there is no `python3` on the PATH: \.py tool files are skipped/m);
});

test('an unusable lock is a problem', async () => {
  await using folder = await createFolder({ 'plugins/one.mjs': toTool('one', 'return 1;'), 'holdfast.lock': '{' });
  const { exitCode, text, json } = await run(folder);
  expect(exitCode).toBe(1);
  expect(json.tools).toMatchObject({ found: true, good: 1, lock: { path: 'holdfast.lock', tools: null } });
  expect(json.problems).toEqual([expect.stringContaining('Cannot use the lock')]);
  expect(text).toMatch(/^lock +holdfast\.lock: unusable$/m);
});

test('tools in subfolders count with the option, and nothing is written', async () => {
  await using folder = await createFolder({ 'plugins/deep/one.mjs': toTool('one', 'return 1;') });
  await runHere(['lock', '--subfolders'], { directory: folder.path });
  const copies = await readdir(folder.path, { recursive: true });
  expect((await run(folder)).json.tools).toMatchObject({ good: 0, lock: { tools: { same: 0, gone: 0 } } });
  expect((await run(folder, { subfolders: true })).json.tools).toMatchObject({ good: 1, lock: { tools: { same: 1 } } });
  expect(await readdir(folder.path, { recursive: true })).toEqual(copies);
});

test.each([
  { what: 'Node.js is too old', options: { node: '22.17.9' }, says: 'Node.js 22.17.9 is too old: install 22.18' },
  { what: 'the workspace is missing', options: { workspace: 'gone' }, says: 'The workspace `gone` is not a folder' },
  { what: 'the workspace is a file', options: { workspace: 'a.txt' }, says: 'The workspace `a.txt` is not a folder' },
  { what: 'the tools folder is missing', options: { tools: 'gone' }, says: 'The tools folder `gone` does not exist' },
])('1 when $what', async ({ options, says }) => {
  await using folder = await createFolder({ 'a.txt': '' });
  const { exitCode, text, json } = await run(folder, options);
  expect(exitCode).toBe(1);
  expect(text).toContain(`problem: ${says}`);
  expect(json.problems).toEqual([expect.stringContaining(says)]);
});

test.each([
  { node: '22.18.0', ok: true },
  { node: '22.9.0', ok: false },
  { node: '24.0.0', ok: true },
  { node: '20.19.0', ok: false },
])('Node.js $node: $ok', async ({ node, ok }) => {
  await using folder = await createFolder();
  expect((await run(folder, { node })).json.node).toMatchObject({ ok });
});

/** Waits until the file system's clock moves on, so that earlier and later writes differ in time. */
async function passTick({ path, write }: TestFolder): Promise<void> {
  const changedAt = async (): Promise<bigint> => (await stat(join(path, 'probe'), { bigint: true })).ctimeNs;
  await write('probe', '');
  const first = await changedAt();
  while ((await changedAt()) === first) await write('probe', '');
}
