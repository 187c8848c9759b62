import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callTool, codesOf, createProject, toolFile } from '../test-project.ts';
import { compareLock, compareLockWith, type LockComparison } from './compare.ts';

const files = {
  'plugins/greet.mjs': toolFile('greet', { code: "import { word } from '../src/word.mjs';", body: 'return word;' }),
  'plugins/plain.mjs': toolFile('plain'),
  'src/word.mjs': "import data from './data.json' with { type: 'json' };\nexport const word = data.word;",
  'src/data.json': '{"word":"good"}',
};

const statesOf = ({ tools }: LockComparison): readonly string[] => tools.map(({ name, state }) => `${name} ${state}`);

test('without a lock every tool is new; with one there are no differences', async () => {
  await using project = await createProject(files);
  const first = await project.compare();
  expect(first).toMatchObject({ found: false, lock: project.lock, diagnostics: [] });
  expect(statesOf(first)).toEqual(['greet new', 'plain new']);
  expect(first.tools[0]).toMatchObject({ file: 'plugins/greet.mjs' });
  await first.accept();
  const second = await project.compare();
  expect(second.found).toBe(true);
  expect(second.tools).toEqual([
    { name: 'greet', file: 'plugins/greet.mjs', state: 'same', changes: [] },
    { name: 'plain', file: 'plugins/plain.mjs', state: 'same', changes: [] },
  ]);
});

test('each difference is listed, with both texts', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.write('src/data.json', '{"word":"bad"}');
  await project.write(
    'plugins/plain.mjs',
    toolFile('plain').replace("'Works.', dangerous: false", "'Works well.', dangerous: true").replace('text:', 'word:'),
  );
  const compared = await project.compare();
  expect(statesOf(compared)).toEqual(['greet changed', 'plain changed']);
  const [greet, plain] = compared.tools;
  expect(greet?.changes).toMatchObject([{ part: 'file', name: 'src/data.json' }]);
  expect(plain?.changes).toMatchObject([
    { part: 'file', name: 'plugins/plain.mjs' },
    { part: 'schema', name: 'parameters', before: { type: 'object' }, after: { type: 'object' } },
    { part: 'metadata', name: 'dangerous', before: false, after: true },
    { part: 'metadata', name: 'description', before: 'Works.', after: 'Works well.' },
    { part: 'metadata', name: 'effects', before: 'none', after: 'external' },
    { part: 'metadata', name: 'repeat', before: 'safe', after: 'never' },
  ]);
  expect(await compared.texts('greet', 'src/data.json')).toEqual({
    before: '{"word":"good"}',
    after: '{"word":"bad"}',
  });
  expect(await compared.texts('greet', 'src/gone.json')).toEqual({ before: undefined, after: undefined });
  await rm(join(project.root, '.holdfast'), { recursive: true });
  expect(await compared.texts('greet', 'src/data.json')).toMatchObject({ before: undefined });
});

test('a tool that moved to another file', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.remove('plugins/plain.mjs');
  await project.write('plugins/other.mjs', files['plugins/plain.mjs']);
  const { tools } = await project.compare();
  expect(tools[1]?.changes).toMatchObject([
    { part: 'entry', before: 'plugins/plain.mjs', after: 'plugins/other.mjs' },
    { part: 'file', name: 'plugins/other.mjs', before: null },
    { part: 'file', name: 'plugins/plain.mjs', after: null },
  ]);
});

test('one tool is accepted, the others keep their entries', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.write('plugins/plain.mjs', toolFile('plain', { body: 'return 2;' }));
  await project.write('plugins/greet.mjs', toolFile('greet', { body: 'return 2;' }));
  await project.write('plugins/later.mjs', toolFile('later'));
  await (await project.compare()).accept(['plain']);
  expect(statesOf(await project.compare())).toEqual(['greet changed', 'later new', 'plain same']);
  await expect((await project.compare()).accept(['gone'])).rejects.toMatchObject({
    code: 'lock.invalid',
    reason: 'unknown_tool',
  });
});

test('a missing tool leaves the lock when accepted; a refused one stays', async () => {
  await using project = await createProject(files);
  await project.accept();
  await project.remove('plugins/plain.mjs');
  await project.write('plugins/greet.mjs', 'export const METADATA = make();');
  expect(statesOf(await project.compare())).toEqual(['greet refused', 'plain gone']);
  await project.accept();
  expect(statesOf(await project.compare())).toEqual(['greet refused']);
  await project.write('plugins/greet.mjs', files['plugins/greet.mjs']);
  expect(statesOf(await project.compare())).toEqual(['greet same']);
});

test('tools of another folder in the same lock are unaffected', async () => {
  await using project = await createProject({ ...files, 'more/far.mjs': toolFile('far') });
  await project.accept();
  await (await compareLock(join(project.root, 'more'), { lock: project.lock })).accept();
  expect(statesOf(await project.compare())).toEqual(['greet same', 'plain same']);
  await project.remove('plugins/plain.mjs');
  await project.accept();
  expect(statesOf(await compareLock(join(project.root, 'more'), { lock: project.lock }))).toEqual(['far same']);
});

test('tools accepted by another process meanwhile are kept', async () => {
  await using project = await createProject(files);
  const [one, two] = [await project.compare(), await project.compare()];
  await one.accept(['greet']);
  await two.accept(['plain']);
  expect(statesOf(await project.compare())).toEqual(['greet same', 'plain same']);
});

test('the compared state is locked, even if files changed since', async () => {
  await using project = await createProject(files);
  const compared = await project.compare();
  await project.write('src/data.json', '{"word":"evil"}');
  await compared.accept();
  expect(codesOf(await project.load())).toEqual(['greet.mjs lock.changed']);
  await project.write('src/data.json', files['src/data.json']);
  expect(await callTool((await project.load()).tools[0])).toBe('good');
});

test('locking a tool repairs its damaged copy', async () => {
  await using project = await createProject(files);
  await project.accept();
  const digest = (await project.load()).tools[0]?.origin?.digest ?? '';
  const path = join(project.root, '.holdfast/tools', digest, 'files/src/data.json');
  await rm(path);
  await project.accept();
  expect(await readFile(path, 'utf8')).toBe(files['src/data.json']);
});

test('files that cannot be pinned are reported and not locked', async () => {
  await using project = await createProject({
    ...files,
    'plugins/asks.mjs': toolFile('asks', { body: 'await import(input);' }),
  });
  const compared = await project.compare();
  expect(compared.diagnostics).toMatchObject([{ code: 'tool.import.invalid', reason: 'dynamic', file: 'asks.mjs' }]);
  expect(statesOf(compared)).toEqual(['greet new', 'plain new']);
});

test('the lock is the same for the same bytes, in any file order', async () => {
  const paths = Object.entries(files);
  const texts = new Set<string>();
  for (const order of [paths, paths.toReversed(), [...paths.slice(2), ...paths.slice(0, 2)]]) {
    await using project = await createProject();
    for (const [path, text] of order) await project.write(path, text);
    await project.accept();
    texts.add(await readFile(project.lock, 'utf8'));
  }
  expect(texts.size).toBe(1);
});

test('property: there are no differences after locking, and any changed byte of a closure is one', async () => {
  await using project = await createProject(files);
  const closure = Object.keys(files).filter((path) => path !== 'plugins/plain.mjs');
  await project.accept();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...closure), fc.nat(), fc.integer({ min: 1, max: 255 }), async (path, at, by) => {
      expect(statesOf(await project.compare())).toEqual(['greet same', 'plain same']);
      // From the files above.
      const bytes = Buffer.from(files[path as keyof typeof files]);
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed.readUInt8(at % bytes.length) + by) % 256, at % bytes.length);
      await project.write(path, changed);
      const after = await project.compare();
      expect(after.tools.filter(({ state }) => state === 'same').map(({ name }) => name)).toEqual(['plain']);
      expect((await project.load()).tools.map(({ name }) => name)).toEqual(['plain']);
      await project.write(path, bytes);
    }),
    { numRuns: 60 },
  );
});

async function killAt(
  step: string,
  project: { readonly root: string; readonly plugins: string; readonly lock: string },
): Promise<void> {
  const script = `
    const { compareLockWith } = await import(${JSON.stringify(import.meta.resolve('./compare.ts'))});
    const die = () => process.kill(process.pid, 'SIGKILL');
    const compared = await compareLockWith(${JSON.stringify(project.plugins)}, { lock: ${JSON.stringify(project.lock)} }, {
      onCopy: (step) => { if (step === ${JSON.stringify(step)}) die(); },
      onWritten: () => { if (${JSON.stringify(step)} === 'lock') die(); },
    });
    await compared.accept();
  `;
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=holdfast-source', '--input-type=module', '--eval', script],
    { stdio: 'ignore' },
  );
  const signal = await new Promise((resolve) => child.on('exit', (_, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
}

test.each(['written', 'put', 'lock'])('a process killed after %s leaves nothing that could run', async (step) => {
  await using project = await createProject(files);
  await project.accept();
  const before = await readFile(project.lock, 'utf8');
  await project.write('src/data.json', '{"word":"new"}');
  await killAt(step, project);
  expect(await readFile(project.lock, 'utf8')).toBe(before);
  expect(codesOf(await project.load())).toEqual(['greet.mjs lock.changed']);
  await project.accept();
  const { tools, diagnostics } = await project.load();
  expect(diagnostics).toEqual([]);
  expect(await callTool(tools[0])).toBe('new');
  // Leftovers of the dead process do no harm.
  expect((await readdir(project.root)).filter((name) => !name.startsWith('.holdfast'))).toEqual([
    'holdfast.lock',
    'plugins',
    'src',
  ]);
});

test('a damaged lock is not overwritten', async () => {
  await using project = await createProject({ ...files, 'holdfast.lock': '<<<<<<<' });
  await expect(project.compare()).rejects.toMatchObject({ code: 'lock.invalid' });
  await using other = await createProject(files);
  const compared = await compareLockWith(other.plugins, { lock: other.lock }, {});
  await other.write('holdfast.lock', '<<<<<<<');
  await expect(compared.accept()).rejects.toMatchObject({ code: 'lock.invalid' });
});
