import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeCode } from '@holdfast/core/internal';
import { loadTools } from '@holdfast/loader';
import { type FolderScan, scanFolder } from '@holdfast/loader/internal';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runNode } from '../documents/documents.ts';
import { notLiteral } from './hostile-literals.ts';
import { goodTwin, type HostileFile, harmfulWhenRun, refused } from './hostile-tool-files.ts';
import { type Canaries, createCanaries } from './tool-file-canaries.ts';

let base = '';
let canaries: Canaries;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-hostile-'));
  canaries = await createCanaries(base);
});
afterEach(async () => {
  await canaries.close();
  rmSync(base, { recursive: true, force: true });
});

const behaviours: readonly HostileFile[] = [...refused, ...harmfulWhenRun, ...notLiteral];

/** The expected result of a scan of each file: `tool`, or the code. */
type Expected = ReadonlyMap<string, string>;

/** Makes a folder of the given files, each beside a good twin; `folderOf` says in which sub-folder the n-th lies. */
function write(
  folder: string,
  files: readonly HostileFile[],
  folderOf: (index: number) => string = () => '',
): Expected {
  const expected = new Map<string, string>();
  const put = (path: string, content: string | Uint8Array, outcome: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    expected.set(path, outcome);
  };
  for (const [index, { code, extension, source }] of files.entries()) {
    const path = `${folderOf(index)}x${index}`;
    const { trip, port } = canaries;
    const content = source(`subject-${index}-x`, trip);
    const text = typeof content === 'string' ? content.replaceAll('PORT', String(port)) : content;
    put(`${path}.${extension}`, text, code ?? 'tool');
    put(`${path}-twin.mjs`, goodTwin(`twin-${index}-x`, index % 2 === 0 ? 'metadata' : 'definition', trip), 'tool');
  }
  put('_trip.mjs', `${canaries.trip};\nexport const trap = 1;\nexport default () => 1;\n`, '');
  expected.delete('_trip.mjs');
  return expected;
}

/** As `Expected`, with every other code of a file where the expected one is not among them. */
function outcomes({ files, diagnostics }: FolderScan, expected: Expected): Expected {
  const codes = Map.groupBy(
    diagnostics.filter(({ severity }) => severity === 'error'),
    ({ file }) => file,
  );
  return new Map(
    files.map(({ file, type }) => {
      if (type === 'tool') return [file, 'tool'];
      const found = codes.get(file)?.map(describeCode) ?? [];
      const code = expected.get(file) ?? '';
      return [file, found.includes(code) ? code : found.join(', ')];
    }),
  );
}

function sorted(map: Expected): readonly (readonly [string, string])[] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}

test('the canaries are tripped by a file that runs', async () => {
  const file = join(base, 'run.mjs');
  writeFileSync(file, canaries.trip);
  expect(await canaries.tripped()).toEqual([]);
  await import(/* @vite-ignore */ file);
  expect(await canaries.tripped()).toEqual(['file', 'global', 'environment', 'listener']);
  expect(await canaries.tripped()).toEqual([]);
});

test('there are hundreds of behaviours', () => {
  expect(new Set(behaviours.map(({ what }) => what)).size).toBe(behaviours.length);
  expect(refused.length + harmfulWhenRun.length).toBeGreaterThan(100);
  expect(notLiteral.length).toBeGreaterThan(500);
});

test('a folder of all of them: each bad file has its code, each good twin loads, and nothing has run', async () => {
  const folder = join(base, 'tools');
  const expected = write(folder, behaviours);
  const environment = { ...process.env };
  const { files, diagnostics, tools } = await loadTools(folder);
  expect(sorted(outcomes({ files, diagnostics }, expected))).toEqual(sorted(expected));
  expect(tools).toHaveLength(behaviours.length + harmfulWhenRun.length);
  for (const { line, column, hint, message } of diagnostics) {
    expect(line).toBeGreaterThan(0);
    expect(column).toBeGreaterThan(0);
    expect(hint).not.toBe('');
    expect(message).not.toContain(base);
  }
  expect(await canaries.tripped()).toEqual([]);
  expect(process.env).toEqual(environment);
});

test('any of them, in any order and any sub-folder, come out the same', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...behaviours], { minLength: 1, maxLength: 12 }),
      fc.array(fc.constantFrom('', 'a/', 'a/b/', 'c/', 'ends.mjs/'), { minLength: 12, maxLength: 12 }),
      async (files, folders) => {
        const folder = join(base, `tools${number++}`);
        const expected = write(folder, files, (index) => folders[index] ?? '');
        const scan = await scanFolder(folder, { subfolders: true });
        expect(sorted(outcomes(scan, expected))).toEqual(sorted(expected));
        rmSync(folder, { recursive: true });
      },
    ),
    { numRuns: 30 },
  );
  expect(await canaries.tripped()).toEqual([]);
});

test.skipIf(process.platform === 'win32')(
  'files that go, come back as something else or as links while they are read cost only themselves',
  async () => {
    const kinds = ['gone', 'other', 'link', 'fifo', 'folder'] as const;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { minLength: 5, maxLength: 20 }), async (changes) => {
        const folder = mkdtempSync(join(base, 'tools-'));
        for (const index of changes.keys()) {
          for (const name of ['good', 'bad']) {
            writeFileSync(
              join(folder, `${name}${index}.mjs`),
              goodTwin(`${name}-${index}-x`, 'metadata', canaries.trip),
            );
          }
        }
        writeFileSync(join(base, 'outside.mjs'), goodTwin('outside', 'metadata', canaries.trip));
        const scanning = scanFolder(folder);
        for (const [index, change] of changes.entries()) {
          const path = join(folder, `bad${index}.mjs`);
          await new Promise((resolve) => setImmediate(resolve));
          if (change === 'other') {
            writeFileSync(join(folder, '_next'), goodTwin(`next-${index}-x`, 'definition', canaries.trip));
            renameSync(join(folder, '_next'), path);
            continue;
          }
          rmSync(path);
          if (change === 'link') symlinkSync(join(base, 'outside.mjs'), path);
          if (change === 'fifo') execFileSync('mkfifo', [path]);
          if (change === 'folder') mkdirSync(path);
        }
        const { files, diagnostics } = await scanning;
        const good = files.filter(({ file }) => file.startsWith('good'));
        expect(good).toHaveLength(changes.length);
        expect(good.every(({ type }) => type === 'tool')).toBe(true);
        expect(JSON.stringify(files)).not.toContain('outside');
        const allowed = [
          'tool.file.invalid: unreadable',
          'tool.file.invalid: not_regular',
          'tool.file.invalid: symlink',
        ];
        expect(
          diagnostics.filter(
            ({ file, code, reason }) => !file.startsWith('bad') || !allowed.includes(describeCode({ code, reason })),
          ),
        ).toEqual([]);
      }),
      { numRuns: 8 },
    );
    expect(await canaries.tripped()).toEqual([]);
  },
);

const bin = fileURLToPath(new URL('../../apps/cli/src/bin.ts', import.meta.url));

test.each([
  { commands: [['check', 'tools', '--json']], status: 1 },
  { commands: [['list', '--tools', 'tools', '--json']], status: 0 },
  {
    commands: [
      ['lock', '--tools', 'tools'],
      ['lock', '--tools', 'tools', '--check', '--json'],
    ],
    status: 1,
  },
])('$commands of holdfast run nothing of them', async ({ commands, status }) => {
  const files = [...refused, ...harmfulWhenRun];
  write(join(base, 'tools'), files);
  for (const [name, entry] of [
    ['@holdfast/core', '.'],
    ['@holdfast/schema', './json'],
  ] as const) {
    const folder = join(base, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    const manifest = { name, version: '1.0.0', type: 'module', exports: { [entry]: './index.mjs' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'index.mjs'), `${canaries.trip};\n`);
  }
  for (const words of commands) {
    const ended = await runNode(['--conditions=holdfast-source', bin, ...words], { cwd: base });
    expect(ended.status, ended.output.slice(0, 2000)).toBe(status);
    for (const index of files.keys()) expect(ended.output).toContain(`twin-${index}-x`);
  }
  expect(await canaries.tripped()).toEqual([]);
});
