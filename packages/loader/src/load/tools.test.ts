import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHoldfastError, type Tool } from '@holdfast/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bareContext as context } from '../test-project.ts';
import { testContext } from '../test-tools.ts';
import { loadTools } from './tools.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-loader-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const metadata = `export const METADATA = {
  name: 'greet', function: 'greet', description: 'Greets a person.', dangerous: false,
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};`;

async function load(content: string, file = 'greet.mjs'): Promise<Tool> {
  writeFileSync(join(folder, file), content);
  const { tools, diagnostics } = await loadTools(folder, { isolation: 'in-process' });
  expect(diagnostics).toEqual([]);
  const [tool] = tools;
  if (tool === undefined) throw new Error('The test needs a tool.');
  return tool;
}

async function failure(tool: Tool): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await tool.execute?.({ name: 'Ada' }, context);
  } catch (thrown) {
    if (isHoldfastError(thrown)) return thrown;
    throw thrown;
  }
  throw new Error('The call was expected to fail.');
}

test("a tool has its file's metadata, and runs the function with input and context", async () => {
  const tool = await load(
    `${metadata}\nexport async function greet({ name }, { callId }) { return \`Hello \${name} of \${callId}\`; }`,
  );
  expect(tool).toMatchObject({
    name: 'greet',
    description: 'Greets a person.',
    effects: 'none',
    repeat: 'safe',
    dangerous: false,
    origin: { kind: 'file', source: 'greet.mjs', digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    inputSchema: { type: 'json-schema', schema: { type: 'object', required: ['name'] } },
  });
  expect(await tool.execute?.({ name: 'Ada' }, context)).toBe('Hello Ada of call-1');
});

test('TypeScript tools, outputs, timeouts and examples', async () => {
  const extra =
    "timeoutMs: 50, returns: { type: 'string' }, examples: [{ description: 'One', input: { name: 'Ada' }, output: 'Ada' }],\n};";
  const tool = await load(
    `${metadata.replace(/\};$/, extra)}\nexport const greet = ({ name }: { name: string }): string => name;`,
    'greet.ts',
  );
  expect(tool).toMatchObject({
    timeoutMs: 50,
    outputSchema: { schema: { type: 'string' } },
    examples: [{ description: 'One' }],
  });
  expect(await tool.execute?.({ name: 'Ada' }, context)).toBe('Ada');
});

test('a tool without parameters has no input schema', async () => {
  const tool = await load(`${metadata.replace(/ {2}parameters.*\n/, '')}\nexport function greet() { return 1; }`);
  expect(tool.inputSchema).toBeUndefined();
});

test("a file runs on its tool's first call, and only once", async () => {
  const log = join(folder, 'log.txt');
  const tool = await load(
    `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(log)}, 'x');\n${metadata}\nexport function greet(input) { return null; }`,
  );
  expect(existsSync(log)).toBe(false);
  await Promise.all([tool.execute?.({}, context), tool.execute?.({}, context)]);
  await tool.execute?.({}, context);
  expect(readFileSync(log, 'utf8')).toBe('x');
});

test('a file that changed after the scan does not run until reloaded', async () => {
  const log = join(folder, 'log.txt');
  const tool = await load(`${metadata}\nexport function greet(input) { return 'old'; }`);
  writeFileSync(
    join(folder, 'greet.mjs'),
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(log)}, '');\n${metadata}\nexport function greet(input) { return 'new'; }`,
  );
  expect(await failure(tool)).toMatchObject({
    code: 'tool.file.changed',
    message: expect.stringContaining('`greet.mjs`'),
  });
  expect(existsSync(log)).toBe(false);
  const { tools } = await loadTools(folder, { isolation: 'in-process' });
  expect(await tools[0]?.execute?.({}, context)).toBe('new');
});

test('a removed file counts as changed', async () => {
  const tool = await load(`${metadata}\nexport function greet(input) { return 'old'; }`);
  rmSync(join(folder, 'greet.mjs'));
  expect(await failure(tool)).toMatchObject({ code: 'tool.file.changed' });
});

test.skipIf(process.platform === 'win32').each([
  ['a FIFO, which does not block', (path: string) => execFileSync('mkfifo', [path])],
  ['a folder', (path: string) => mkdirSync(path)],
  ['a link to a file that is the same', (path: string) => symlinkSync('_same.mjs', path)],
] as const)('a file replaced by %s counts as changed', async (_, become) => {
  const source = `${metadata}\nexport function greet(input) { return 'old'; }`;
  const tool = await load(source);
  writeFileSync(join(folder, '_same.mjs'), source);
  rmSync(join(folder, 'greet.mjs'));
  become(join(folder, 'greet.mjs'));
  expect(await failure(tool)).toMatchObject({ code: 'tool.file.changed' });
});

test('an edited and reloaded file runs its new text, although Node has imported the path before', async () => {
  const first = await load(`${metadata}\nexport function greet(input) { return 1; }`);
  expect(await first.execute?.({}, context)).toBe(1);
  const second = await load(`${metadata}\nexport function greet(input) { return 2; }`);
  expect(await second.execute?.({}, context)).toBe(2);
  expect(await first.execute?.({}, context)).toBe(1);
});

test.each([
  ['throw new Error("no key")', 'no key'],
  ['throw null', 'a thrown null'],
  ['throw Symbol()', 'a thrown symbol'],
  ['throw { get message() { throw 1 } }', 'cannot be described'],
  ['throw new Error("\\u001b[31m" + "x".repeat(1e6))', '\\u{1b}[31mxxx'],
  ['import "no-such-package-at-all"', 'no-such-package-at-all'],
  ['import "./none.mjs"', 'none.mjs'],
  ['throw new Error("in " + import.meta.url + " and /usr/lib/secret/x.js")', 'x.js'],
])('a file with `%s` fails its call with a message without host paths', async (code, expected) => {
  const tool = await load(`${code};\n${metadata}\nexport function greet(input) {}`);
  const { code: found, message } = await failure(tool);
  expect(found).toBe('tool.file.import_failed');
  expect(message).toContain(expected);
  expect(message.length).toBeLessThan(700);
  expect(message).not.toContain(tmpdir());
  expect(message).not.toContain('/usr/lib');
});

test('a function reassigned by the file is not called', async () => {
  const tool = await load(`${metadata}\nexport function greet(input) {}\ngreet = 5;`);
  expect(await failure(tool)).toMatchObject({ code: 'tool.function.not_function' });
});

test("an error of the function is the call's failure", async () => {
  const tool = await load(`${metadata}\nexport function greet(input) { throw new Error('not today'); }`);
  await expect(tool.execute?.({}, context)).rejects.toThrow('not today');
});

test('strict is passed to the scan', async () => {
  writeFileSync(
    join(folder, 'greet.mjs'),
    `${metadata.replace(' dangerous: false,', '')}\nexport function greet(input) {}`,
  );
  expect((await loadTools(folder)).tools).toMatchObject([{ dangerous: true, undeclared: true }]);
  expect(await loadTools(folder, { strict: true })).toMatchObject({
    tools: [],
    diagnostics: [{ code: 'tool.metadata.invalid', reason: 'dangerous.missing' }],
    files: [{ type: 'refused' }],
  });
});

test('a missing folder', async () => {
  await expect(loadTools(join(folder, 'none'))).rejects.toMatchObject({
    code: 'tools.folder.unreadable',
    reason: 'missing',
  });
});

const places = {
  here: { isHere: true, isThread: false },
  thread: { isHere: true, isThread: true },
  process: { isHere: false, isThread: false },
};

test.each([
  { host: undefined, file: undefined, place: 'process' },
  { host: undefined, file: 'in-process', place: 'process' },
  { host: undefined, file: 'worker', place: 'process' },
  { host: 'in-process', file: undefined, place: 'here' },
  { host: 'in-process', file: 'in-process', place: 'here' },
  { host: 'in-process', file: 'worker', place: 'thread' },
  { host: 'in-process', file: 'subprocess', place: 'process' },
  { host: 'worker', file: undefined, place: 'thread' },
  { host: 'worker', file: 'in-process', place: 'thread' },
  { host: 'subprocess', file: 'worker', place: 'process' },
] as const)('host $host, file $file: the tool runs in a $place', async ({ host, file, place }) => {
  writeFileSync(
    join(folder, 'where.mjs'),
    `import { isMainThread } from 'node:worker_threads';
export const METADATA = {
  name: 'where', function: 'where', description: 'Tells where it runs.', dangerous: false, effects: 'none',
  ${file === undefined ? '' : `isolation: '${file}',`} parameters: { type: 'object', properties: {} },
};
export function where() { return { pid: process.pid, isThread: !isMainThread }; }`,
  );
  const { tools, close } = await loadTools(folder, host === undefined ? {} : { isolation: host });
  try {
    // The result of the tool above.
    const seen = (await tools[0]?.execute?.({}, testContext())) as { readonly pid: number; readonly isThread: boolean };
    expect({ isHere: seen.pid === process.pid, isThread: seen.isThread }).toEqual(places[place]);
  } finally {
    await close();
  }
});
