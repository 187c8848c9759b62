import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, expect, inject, test } from 'vitest';
import { readPackages } from './packed-package.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packages = await readPackages(inject('tarballs'));
const table = packages.map((packed) => [packed.manifest.name, packed] as const);
const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-hostile-')));

afterAll(() => rm(folder, { recursive: true }));

const builtFile =
  /^(?:dist\/[\w-]+\.(?:js|d\.ts)|dist\/guard-hook\/[\w-]+\.cjs|dist\/studio\/(?:index\.html|page\.(?:js|css))|schemas\/[\w.-]+\.json)$/;

test.each(table)('%s holds what was built, its README and the licence, and nothing else', (name, { files }) => {
  const paths = [...files.keys()];
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
  const others = paths.filter((path) => !['package.json', 'README.md', 'LICENSE'].includes(path));
  expect(others).not.toEqual([]);
  // A package of a model is there for its weights.
  const weights = name.startsWith('@holdfast/model-') ? ['model.gguf'] : [];
  expect(others.filter((path) => !builtFile.test(path))).toEqual(weights);
});

test.each(table)('%s runs nothing at install and names exact versions', (_, { manifest }) => {
  expect(Object.keys(manifest.scripts ?? {})).toEqual(['build']);
  for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    if (name.startsWith('@holdfast/')) expect(version).toBe(manifest.version);
  }
});

test.each(table)('%s says nothing of the machine that built it', (_, { files }) => {
  const leaking = [...files].filter(([, text]) => text.includes(root) || /file:\/\/\/\w|sourceMappingURL/.test(text));
  expect(leaking.map(([path]) => path)).toEqual([]);
});

test.each(table)('every file that %s exports is there, under every condition', (_, { manifest, files }) => {
  const targets = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  expect(targets.filter((target) => !files.has(target.replace('./', '')))).toEqual([]);
});

test.each(table)('publint finds nothing in %s', async (_, { tarball }) => {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, level: 'suggestion', strict: true });
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
});

test.each(table)('the types of %s are right for ES module imports', async (name, { tarball }) => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  // The program has no types: it exports nothing.
  if (name === 'holdfast') return expect(analysis.types).toBe(false);
  if (!analysis.types) return expect.unreachable('no types were found');
  const problems = analysis.problems.filter(
    // Published for ES modules alone: the resolutions of CommonJS, old and new, are not served.
    (problem) => !('resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind)),
  );
  return expect(problems).toEqual([]);
});

// Stray files of a working folder, and files that must not be packed.
const hostile = {
  '.env': 'TOKEN=secret',
  '.npmrc': 'ignore-scripts=false',
  '.npmignore': '!*',
  '.gitignore': '!*',
  '.holdfast/sessions/a.jsonl': '{}',
  id_rsa: 'secret',
  'notes.md': 'secret',
  'other.tgz': 'secret',
  'src/index.test.ts': 'secret',
  'node_modules/other/index.js': 'secret',
  'binding.gyp': '{}',
};

test('hostile files in the folders change nothing', async () => {
  const folders = packages.map(({ manifest: { name } }) => join(folder, name.replace('/', '-')));
  for (const [index, { files }] of packages.entries()) {
    for (const [path, text] of [...files, ...Object.entries(hostile)]) {
      const target = join(folders[index] ?? '', path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
  }
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--dry-run', ...folders], {
    cwd: folder,
    shell: process.platform === 'win32',
  });
  const packed = JSON.parse(stdout) as readonly { readonly files: readonly { readonly path: string }[] }[];
  expect(packed.map(({ files }) => files.map(({ path }) => path).toSorted())).toEqual(
    packages.map(({ files }) => [...files.keys()].toSorted()),
  );
});
