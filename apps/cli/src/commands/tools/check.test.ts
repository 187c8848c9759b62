import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { checkFolder } from './check.ts';

const good = `export const METADATA = {
  name: 'shout', function: 'shout', description: 'Answers in capitals.', dangerous: false,
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
export function shout({ text }) { return text.toUpperCase(); }
`;
const undeclared = good.replace(' dangerous: false,', '').replaceAll('shout', 'whisper');
const bad = `// computed
export const METADATA = { name: 'a' + 'b', function: 'run_it', description: 'x' };
export function run_it() { globalThis.ran = true; }
`;

async function check(files: Readonly<Record<string, string>>, { strict = false, json = false } = {}) {
  await using folder = await createFolder(files);
  const { host, stdout } = createTestHost({ directory: folder.path });
  const exitCode = await checkFolder({ folder: './tools', strict, subfolders: false, json }, host);
  return { exitCode, text: stdout() };
}

test('a valid folder', async () => {
  expect(await check({ 'tools/shout.mjs': good })).toEqual({
    exitCode: 0,
    text: '1 valid tool, 0 errors, 0 warnings\n',
  });
});

test('without an argument the default folder is checked; a file is an error', async () => {
  await using folder = await createFolder({ 'plugins/shout.mjs': good });
  const type = (...argv: readonly string[]): Promise<Ended> => runHere(['check', ...argv], { directory: folder.path });
  expect(await type()).toMatchObject({ exitCode: 0, stdout: '1 valid tool, 0 errors, 0 warnings\n' });
  const file = await type('plugins/shout.mjs');
  expect(file).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('`holdfast try` for a single file') });
  expect(await type('')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('usage.invalid: folder_missing'),
  });
  await using empty = await createFolder();
  expect(await runHere(['check'], { directory: empty.path })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Tools folder `./plugins` does not exist'),
  });
});

test('a folder without tool files', async () => {
  const { exitCode, text } = await check({ 'tools/notes.txt': 'none' });
  expect(exitCode).toBe(0);
  expect(text).toMatch(
    /^No tool files in \.\/tools: tool files end in \.js, .+ \.py or \.tool\.json; use --subfolders/,
  );
});

test('an invalid file is reported with file, line, code and hint, without affecting valid ones', async () => {
  const { exitCode, text } = await check({ 'tools/shout.mjs': good, 'tools/bad.mjs': bad });
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^\.?\/?tools\/bad\.mjs:2:\d+ error tool\.metadata\.invalid: not_literal .+\n {2}hint: .+\n/);
  expect(text).toMatch(/\n1 valid tool, 1 error, 0 warnings\n$/);
  expect(globalThis).not.toHaveProperty('ran');
});

test('warnings are errors when strict', async () => {
  const files = { 'tools/whisper.mjs': undeclared };
  expect(await check(files)).toMatchObject({ exitCode: 0, text: expect.stringContaining('1 warning\n') });
  expect(await check(files, { strict: true })).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining('1 error,'),
  });
});

const definition = `import { defineTool } from '@holdfast/core';
export default defineTool({ name: 'read-file', description: 'Reads.', effects: 'none', execute: () => null });
`;

const command = JSON.stringify({ name: 'read-file', description: 'Reads.', dangerous: false, command: ['cat'] });

test.each([
  { form: 'METADATA', source: good.replace("name: 'shout'", "name: 'read-file'"), place: 'in its METADATA' },
  { form: 'a definition', source: definition, place: 'in what it passes to `defineTool`' },
  { form: 'a command', file: 'clash.tool.json', source: command, place: 'in the file' },
])('a tool of $form with the name of a file tool is refused', async ({ file = 'clash.mjs', source, place }) => {
  const { exitCode, text } = await check({ [`tools/${file}`]: source });
  expect(exitCode).toBe(1);
  expect(text).toContain(`${file}:1:1 error tool.invalid: name.taken`);
  expect(text).toContain('`read_file`');
  expect(text).toContain(`Give the tool another \`name\` ${place}.`);
  expect(text).toContain('0 valid tools');
});

test('a tool with broken imports is invalid, without affecting others', async () => {
  const broken = `import { up } from './_gone.mjs';\n${good.replaceAll('shout', 'whisper')}`;
  const { exitCode, text } = await check({ 'tools/shout.mjs': good, 'tools/whisper.mjs': broken });
  expect(exitCode).toBe(1);
  expect(text).toMatch(
    /tools\/whisper\.mjs:1:20 error tool\.import\.invalid: missing {2}The file `tools\/_gone\.mjs` does not exist/,
  );
  expect(text).toMatch(/\n1 valid tool, 1 error, 0 warnings\n$/);
});

test('JSON contains the tools and the diagnostics', async () => {
  const { exitCode, text } = await check({ 'tools/shout.mjs': good, 'tools/bad.mjs': bad }, { json: true });
  expect(exitCode).toBe(1);
  expect(JSON.parse(text)).toMatchObject({
    tools: [{ name: 'shout', file: 'shout.mjs' }],
    diagnostics: [{ severity: 'error', file: 'bad.mjs', line: 2, code: expect.any(String), hint: expect.any(String) }],
  });
});
