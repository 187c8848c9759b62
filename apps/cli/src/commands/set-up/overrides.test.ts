import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { type RunMainOptions, runMain } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const file = '.holdfast/overrides/acme/support/triage/latest.json';

function toModule(body: string, rest = '', from = import.meta.resolve('@holdfast/prompt')): string {
  return `import { createPrompt, markdownSection } from '${from}';
console.log('what a module prints');
const section = markdownSection({ title: 'Guide', template: ${JSON.stringify(body)}, summary: 'Short.' });
export const prompt = createPrompt({ ns: 'acme/support', key: 'triage', sections: [section] });
${rest}`;
}

async function run(argv: readonly string[], folder: string, options: RunMainOptions = {}) {
  const { exitCode, stdout, stderr } = await runMain(['overrides', ...argv], { folder, ...options });
  return { exitCode, stdout, stderr: stderr.replace('what a module prints\n', '') };
}

async function runJson(argv: readonly string[], folder: string) {
  const [action = ''] = argv;
  const { exitCode, stdout, stderr } = await run([...argv, '--json'], folder);
  const printed = JSON.parse(stdout);
  const { $defs = {} } = await readSchema('overrides');
  const schema = { $ref: `#/$defs/${action}`, $defs };
  expect({ stderr, issues: findIssues(schema, printed) }).toEqual({ stderr: '', issues: [] });
  return { exitCode, printed };
}

test('seed, edit, status and diff, until the code changes', async () => {
  await using folder = await createFolder({ 'prompt.ts': toModule('One.\nTwo.') });
  expect(await run(['status', 'prompt.ts'], folder.path)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(usage.invalid: overrides_missing)'),
  });
  expect(await run(['seed', 'prompt.ts'], folder.path)).toEqual({
    exitCode: 0,
    stdout: `Wrote ${file} with the texts of 1 section and 0 tools.\n`,
    stderr: '',
  });
  const seeded = await readFile(join(folder.path, file), 'utf8');
  await folder.write(file, seeded.replace('One.\\nTwo.', 'One.\\n2.'));
  expect(await runJson(['seed', 'prompt.ts'], folder.path)).toEqual({
    exitCode: 0,
    printed: { ns: 'acme/support', key: 'triage', tag: 'latest', file, created: false, sections: 1, tools: 0 },
  });
  expect(await run(['status', 'prompt.ts'], folder.path)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('applied section guide, body\n\n1 applied, 0 stale'),
  });
  expect(await run(['diff', 'prompt.ts'], folder.path)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('@@ -1,2 +1,2 @@\n One.\n-Two.\n+2.\n'),
  });
  await folder.write('prompt.ts', toModule('One.\nThree.'));
  const { exitCode, printed } = await runJson(['status', 'prompt.ts'], folder.path);
  expect({ exitCode, ok: printed.ok }).toEqual({ exitCode: 1, ok: false });
  expect(printed.overrides.filter(({ edited }: { edited: boolean }) => edited)).toEqual([
    {
      section: 'guide',
      tool: null,
      part: 'body',
      state: 'stale',
      edited: true,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      why: 'the prompt says something else there now',
    },
  ]);
  // Pinning to the hash from the file keeps the override.
  const [{ hash }] = printed.overrides.filter(({ state }: { state: string }) => state === 'stale');
  const edited = JSON.parse(await readFile(join(folder.path, file), 'utf8'));
  edited.sections.guide.body.hash = hash;
  await folder.write(file, JSON.stringify(edited));
  const kept = await runJson(['diff', 'prompt.ts'], folder.path);
  expect({ exitCode: kept.exitCode, overrides: kept.printed.overrides }).toMatchObject({
    exitCode: 0,
    overrides: [{ state: 'applied', current: 'One.\nThree.', override: 'One.\n2.' }],
  });
});

test('a stale unedited override is accepted, an invalid document fails', async () => {
  await using folder = await createFolder({ 'prompt.ts': toModule('One.') });
  await run(['seed', 'prompt.ts', '--dir', 'texts', '--tag', 'short'], folder.path);
  await folder.write('prompt.ts', toModule('Two.'));
  const elsewhere = ['prompt.ts', '--dir', 'texts', '--tag', 'short'];
  const status = await runJson(['status', ...elsewhere], folder.path);
  expect(status).toMatchObject({
    exitCode: 0,
    printed: { ok: true, tag: 'short', file: expect.stringMatching(/^texts/) },
  });
  await folder.write('texts/acme/support/triage/short.json', Uint8Array.of(0xff));
  const broken = await run(['status', ...elsewhere], folder.path);
  expect(broken).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('invalid document\n') });
  expect((await runJson(['diff', ...elsewhere], folder.path)).printed).toMatchObject({
    ok: false,
    overrides: [{ section: null, tool: null, part: 'document', state: 'invalid', patch: null }],
  });
  const seed = await run(['seed', ...elsewhere], folder.path);
  expect(seed).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('(prompt.invalid: override.unreadable)'),
  });
});

test.each([
  { source: 'export const x = 1;', code: 'usage.invalid: prompt_missing', exitCode: 2 },
  { source: toModule('A.'), more: ['--export', 'gone'], code: 'usage.invalid: prompt_missing', exitCode: 2 },
  { source: toModule('A.'), more: ['--export', '__proto__'], code: 'usage.invalid: prompt_missing', exitCode: 2 },
  {
    source: toModule('A.', "export const two = createPrompt({ ns: 'a', key: 'b', sections: [] });"),
    code: 'usage.invalid: prompt_unclear',
    exitCode: 2,
  },
  {
    source: "export const prompt = { ns: 'a', key: 'b', bind: () => prompt };",
    code: 'usage.invalid: prompt_foreign',
    exitCode: 2,
  },
  { source: "throw new Error('no key');", code: 'module.failed', exitCode: 1 },
  { source: 'export const = 1;', code: 'module.failed', exitCode: 1 },
  { source: "import './gone.ts';", code: 'module.failed', exitCode: 1 },
  { source: toModule('A.'), more: ['--tag', 'A/../b'], code: 'prompt.invalid: override.ref', exitCode: 1 },
  { source: toModule('A.'), more: ['--dir', 'prompt.ts'], code: 'prompt.invalid: override.unwritable', exitCode: 1 },
])('an invalid module or option: $code', async ({ source, more = [], code, exitCode }) => {
  await using folder = await createFolder({ 'prompt.ts': source });
  const ended = await run(['seed', 'prompt.ts', ...more], folder.path);
  expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(`(${code})`) });
});

test('uses the `default` export or the named one; one prompt may have two names', async () => {
  const more = "export default createPrompt({ ns: 'acme/support', key: 'other', sections: [] });";
  await using folder = await createFolder({
    'prompt.ts': toModule('A.', more),
    'twice.ts': toModule('A.', 'export const again = prompt;'),
  });
  expect((await runJson(['seed', 'prompt.ts'], folder.path)).printed).toMatchObject({ key: 'other' });
  expect((await runJson(['seed', 'prompt.ts', '--export', 'prompt'], folder.path)).printed).toMatchObject({
    key: 'triage',
  });
  expect((await runJson(['seed', 'twice.ts', '--tag', 'two'], folder.path)).printed).toMatchObject({ key: 'triage' });
});

test('a prompt of another copy of the package is handled by that copy', async () => {
  const source = (name: string) => fileURLToPath(new URL(`../../../../../packages/${name}`, import.meta.url));
  const manifest = { name: '@holdfast/prompt', main: '../../../copy/index.ts' };
  await using folder = await createFolder({
    'prompt.ts': toModule('A.', '', './copy/index.ts'),
    'node_modules/@holdfast/prompt/package.json': JSON.stringify(manifest),
  });
  await cp(source('prompt/src'), join(folder.path, 'copy'), { recursive: true });
  for (const name of ['core', 'schema'])
    await symlink(source(name), join(folder.path, 'node_modules/@holdfast', name), 'dir');
  await symlink(source('prompt/node_modules/valibot'), join(folder.path, 'node_modules/valibot'), 'dir');
  expect((await runJson(['seed', 'prompt.ts'], folder.path)).printed).toMatchObject({ created: true, sections: 1 });
  expect((await runJson(['status', 'prompt.ts'], folder.path)).printed).toMatchObject({ ok: true });
});
