import { expect, test } from 'vitest';
import { examine } from './doctor-command.ts';
import { createFolder, type TestFolder } from './test-folder.ts';
import { createTestHost } from './test-host.ts';
import { toTool } from './test-program.ts';

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

test('a sound place: everything that was found, no problem, nothing written', async () => {
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
  expect(text).toContain('1 good tool, 1 error, 0 warnings; `holdfast check` says more');
  expect(text).toContain('isolation   in-process stops nothing: it is for');
  expect(text).toMatch(
    /subprocess, where tools run unless told otherwise, stops a tool that ends its process, .*blocks outside of JavaScript/,
  );
  expect(text).toContain('sandbox: not here. The sandbox needs');
  expect(text).toContain('No problem found.');
});

test('a provider that is installed and its key, whose value is never shown', async () => {
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

test.each([
  { what: 'Node.js is too old', options: { node: '22.17.9' }, says: 'Node.js 22.17.9 is too old: install 22.18' },
  { what: 'the workspace is missing', options: { workspace: 'gone' }, says: 'The workspace `gone` is no folder' },
  { what: 'the workspace is a file', options: { workspace: 'a.txt' }, says: 'The workspace `a.txt` is no folder' },
  { what: 'the tools folder is missing', options: { tools: 'gone' }, says: 'The tools folder `gone` is no folder' },
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
