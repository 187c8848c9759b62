import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeCode } from '@holdfast/core/internal';
import { loadTools } from '@holdfast/loader';
import { python } from '@holdfast/loader-python';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runNode } from '../documents/documents.ts';
import { commandFile, type HostileTool, refusedCommands } from './hostile-commands.ts';
import { harmfulPython, notLiteralPython, pythonFile, refusedPython, withPython } from './hostile-python.ts';
import { type Canaries, createCanaries } from './tool-file-canaries.ts';

let base = '';
let canaries: Canaries;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-languages-'));
  canaries = await createCanaries(base);
});
afterEach(async () => {
  await canaries.close();
  rmSync(base, { recursive: true, force: true });
});

const some: readonly HostileTool[] = [...refusedCommands, ...refusedPython, ...harmfulPython];
const behaviours: readonly HostileTool[] = [...some, ...notLiteralPython];

/** By file: `tool`, or the code. */
type Outcomes = ReadonlyMap<string, string>;

/** Makes a folder of the given tools, each beside a good one. */
function write(folder: string, tools: readonly HostileTool[]): Outcomes {
  const expected = new Map<string, string>();
  mkdirSync(join(folder, '_folder'), { recursive: true });
  const { tripInPython, tripInShell, port } = canaries;
  const put = (file: string, content: string | Uint8Array, mode = 0o644): void =>
    writeFileSync(join(folder, file), content, { mode });
  const script = `#!/bin/sh\n${tripInShell}\n`;
  put('_work.sh', script, 0o755);
  put('_folder/_work.sh', script, 0o755);
  put('_plain.txt', script);
  put('_trip.py', `${tripInPython}\n`);
  writeFileSync(join(base, 'outside.sh'), script, { mode: 0o755 });
  symlinkSync('../outside.sh', join(folder, '_outside.sh'));
  symlinkSync('_folder', join(folder, '_linked'));
  execFileSync('mkfifo', [join(folder, '_pipe')]);
  for (const [index, { code, extension, source }] of tools.entries()) {
    const content = source(`subject-${index}-x`, tripInPython);
    put(`x${index}.${extension}`, typeof content === 'string' ? content.replaceAll('PORT', String(port)) : content);
    expected.set(`x${index}.${extension}`, code ?? 'tool');
    const [file, twin] =
      index % 2 === 0
        ? [`x${index}-twin.tool.json`, commandFile(`twin-${index}-x`)]
        : [`x${index}-twin.py`, `${pythonFile(`twin-${index}-x`)}${tripInPython}\n`];
    put(file, twin);
    expected.set(file, 'tool');
  }
  return expected;
}

/** As `expected`, with every code of a file where the expected one is not among them. */
function outcomes({ files, diagnostics }: Awaited<ReturnType<typeof loadTools>>, expected: Outcomes): Outcomes {
  return new Map(
    files.map(({ file, type }) => {
      if (type === 'tool') return [file, 'tool'];
      const found = diagnostics.filter((one) => one.file === file && one.severity === 'error').map(describeCode);
      const code = expected.get(file) ?? '';
      return [file, found.includes(code) ? code : found.join(', ')];
    }),
  );
}

function sorted(map: Outcomes): readonly (readonly [string, string])[] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}

test.skipIf(!withPython)('the canaries are tripped by what runs', async () => {
  execFileSync('python3', ['-I', '-c', canaries.tripInPython]);
  expect(await canaries.tripped()).toEqual(['file', 'listener']);
  execFileSync('/bin/sh', ['-c', canaries.tripInShell]);
  expect(await canaries.tripped()).toEqual(['file']);
});

test('there are hundreds of behaviours', () => {
  expect(new Set(behaviours.map(({ what }) => what)).size).toBe(behaviours.length);
  expect(behaviours.length).toBeGreaterThan(300);
});

test.skipIf(!withPython)(
  'a folder of all of them: each bad tool has its code, each good one loads, and nothing has run',
  async () => {
    const folder = join(base, 'tools');
    const expected = write(folder, behaviours);
    const loaded = await loadTools(folder, { languages: [python()] });
    expect(sorted(outcomes(loaded, expected))).toEqual(sorted(expected));
    for (const { line, column, hint, message } of loaded.diagnostics) {
      expect(line).toBeGreaterThan(0);
      expect(column).toBeGreaterThan(0);
      expect(hint).not.toBe('');
      expect(message).not.toContain(base);
    }
    await loaded.close();
    expect(await canaries.tripped()).toEqual([]);
  },
);

test.skipIf(!withPython)('any of them, in any order, come out the same', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...behaviours], { minLength: 1, maxLength: 8 }), async (tools) => {
      const folder = join(base, `tools${number++}`);
      const expected = write(folder, tools);
      const loaded = await loadTools(folder, { languages: [python()] });
      expect(sorted(outcomes(loaded, expected))).toEqual(sorted(expected));
      await loaded.close();
      rmSync(folder, { recursive: true });
      rmSync(join(base, 'outside.sh'));
    }),
    { numRuns: 10 },
  );
  expect(await canaries.tripped()).toEqual([]);
});

const bin = fileURLToPath(new URL('../../apps/cli/src/bin.ts', import.meta.url));

test.skipIf(!withPython).each([
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
  // Each kind of file; all of them are in the folder of the test above.
  const few = some.filter((_, index) => index % 4 === 0);
  write(join(base, 'tools'), few);
  for (const words of commands) {
    const ended = await runNode(['--conditions=holdfast-source', bin, ...words], { cwd: base });
    expect(ended.status, ended.output.slice(0, 2000)).toBe(status);
    for (const index of few.keys()) expect(ended.output).toContain(`twin-${index}-x`);
  }
  expect(await canaries.tripped()).toEqual([]);
});
