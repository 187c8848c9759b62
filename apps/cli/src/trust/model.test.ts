import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder, toUserFolder } from '../testing/test-folder.ts';
import { toConfig } from '../testing/test-plugins.ts';
import { type Ended, runHere } from '../testing/test-program.ts';

/** A provider whose model writes a self-running file, which needs approval. Creating a model leaves a file beside it. */
const provider = `import { writeFileSync } from 'node:fs';
const parts = [
  { type: 'tool-call', toolCallId: 'one', toolName: 'write_file', input: '{"path":".envrc","content":""}' },
  { type: 'finish', finishReason: { unified: 'tool-calls' }, usage: {} },
];
const done = [{ type: 'text-delta', id: '1', delta: 'Done.' }, { type: 'finish', finishReason: { unified: 'stop' }, usage: {} }];
export const acme = { languageModel: (modelId) => {
  writeFileSync(new URL('./it.ran', import.meta.url), '');
  return {
    specificationVersion: 'v4', provider: 'acme', modelId,
    doStream: async ({ prompt }) => ({ stream: ReadableStream.from(prompt.some(({ role }) => role === 'tool') ? done : parts) }),
  };
} };
`;
const toManifest = (version: string): string =>
  JSON.stringify({ name: '@acme/models', version, type: 'module', exports: './main.mjs' });
const files = {
  'node_modules/@acme/models/package.json': toManifest('1.0.0'),
  'node_modules/@acme/models/main.mjs': provider,
};
const model = ['--model', '@acme/models:large'];

/** As the owner of the home. */
function type({ path }: TestFolder, argv: readonly string[], home = toUserFolder(path)): Promise<Ended> {
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: home };
  return runHere(argv, { directory: path, environment, trusted: false });
}

/** True if the package has made a model since the last check. */
async function hasRun({ path }: TestFolder): Promise<boolean> {
  const mark = join(path, 'node_modules/@acme/models/it.ran');
  try {
    await access(mark);
  } catch {
    return false;
  }
  await rm(mark);
  return true;
}

test('a model name in a log gives no trust: the package is asked about unless this user named it before', async () => {
  await using folder = await createFolder(files);
  expect(await type(folder, ['run', 'Clean.', ...model, '--suspend'])).toMatchObject({ exitCode: 3 });
  expect(await hasRun(folder)).toBe(true);
  const other = join(toUserFolder(folder.path), 'other');
  // The author of the log has a different home.
  expect(await type(folder, ['resume', '--unattended'], other)).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(
      / {2}package @acme\/models 1\.0\.0\n[\s\S]*`@acme\/models` is not trusted[\s\S]*`--model @acme\/models:large`/,
    ),
  });
  expect(await hasRun(folder)).toBe(false);
  expect(await type(folder, ['resume', '--unattended'])).toMatchObject({ exitCode: 0 });
  expect(await hasRun(folder)).toBe(true);
});

test("a folder with the name of a model's package is found code, too", async () => {
  const own = {
    'package.json': toManifest('1.0.0'),
    'main.mjs': provider.replace('./it.ran', './node_modules/@acme/models/it.ran'),
  };
  await using folder = await createFolder({ ...files, ...own });
  await type(folder, ['run', 'Clean.', ...model, '--suspend']);
  await hasRun(folder);
  const other = join(toUserFolder(folder.path), 'other');
  expect(await type(folder, ['resume', '--unattended'], other)).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/ {2}main\.mjs\n {2}package @acme\/models 1\.0\.0\n {2}package\.json\n/),
  });
  expect(await hasRun(folder)).toBe(false);
});

test.each([{ yes: ['--trust'] }, { yes: model }])('the model of a log runs with $yes', async ({ yes }) => {
  await using folder = await createFolder(files);
  await type(folder, ['run', 'Clean.', ...model, '--suspend']);
  const other = join(toUserFolder(folder.path), 'other');
  expect(await type(folder, ['resume', '--unattended', ...yes], other)).toMatchObject({ exitCode: 0 });
});

test.each([
  { how: 'written', config: toConfig({ model: '@acme/models:large' }) },
  { how: 'computed', config: "export default { model: ['@acme/mod', 'els:large'].join('') };\n" },
])("the package of a configuration's model, $how, is trusted by version", async ({ config }) => {
  await using folder = await createFolder({ ...files, 'holdfast.config.mjs': config });
  const run = ['run', 'Clean.', '--suspend'];
  expect(await type(folder, [...run, '--trust'])).toMatchObject({ exitCode: 3 });
  expect(await readFile(join(toUserFolder(folder.path), 'trust.json'), 'utf8')).toContain('@acme/models');
  await hasRun(folder);
  await folder.write('node_modules/@acme/models/package.json', toManifest('1.0.1'));
  for (const argv of [run, ['resume', '--unattended']]) {
    expect(await type(folder, argv)).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('changed  package @acme/models 1.0.1'),
    });
    expect(await hasRun(folder)).toBe(false);
  }
  await folder.write('node_modules/@acme/models/package.json', toManifest('1.0.0'));
  expect(await type(folder, ['resume', '--unattended'])).toMatchObject({ exitCode: 0 });
});

test('naming a configuration also names its model', async () => {
  await using folder = await createFolder({ ...files, 'ci.mjs': toConfig({ model: '@acme/models:large' }) });
  expect(await type(folder, ['run', 'Clean.', '--config', 'ci.mjs', '--suspend'])).toMatchObject({ exitCode: 3 });
  expect(await type(folder, ['resume', '--unattended'])).toMatchObject({ exitCode: 0 });
});
