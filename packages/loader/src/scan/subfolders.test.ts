import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scanFolder } from './folder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-loader-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, name: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(
    join(folder, file),
    `export const METADATA = { name: '${name}', function: 'work', description: 'Works.', dangerous: false };
export function work() {}\n`,
  );
}

/** The diagnostics as `FILE CODE`, and the files with a tool. */
async function scan(): Promise<{ readonly tools: readonly string[]; readonly problems: readonly string[] }> {
  const { files, diagnostics } = await scanFolder(folder, { subfolders: true });
  return {
    tools: files.filter(({ type }) => type === 'tool').map(({ file }) => file),
    problems: diagnostics.map(({ file, code, reason }) => `${file} ${describeCode({ code, reason })}`),
  };
}

test('subfolders are read on request, except hidden and private ones, packages and links', async () => {
  write('b.mjs', 'b');
  write('a/x.mjs', 'a_x');
  write('a/deep/er/x.ts', 'a_deep_er_x');
  write('a-z/x.mjs', 'a_z_x');
  write('ends.mjs/x.mjs', 'ends_x');
  for (const left of [
    '.git/x.mjs',
    '_lib/x.mjs',
    'node_modules/x.mjs',
    'a/_x.mjs',
    'a/node_modules/p/x.mjs',
    'a/x.test.mjs',
  ]) {
    write(left, 'left_out');
  }
  symlinkSync('a', join(folder, 'link'));
  symlinkSync('..', join(folder, 'a/up'));
  expect(await scan()).toEqual({
    tools: ['a-z/x.mjs', 'a/deep/er/x.ts', 'a/x.mjs', 'b.mjs', 'ends.mjs/x.mjs'],
    problems: [],
  });
  expect((await scanFolder(folder)).files).toMatchObject([{ file: 'b.mjs' }]);
});

test('the rules for files apply in subfolders, and across folders', async () => {
  write('a/one.mjs', 'same');
  write('b/two.mjs', 'same');
  write('c/x.mjs', 'c_x');
  write('C/X.mjs', 'c_x_2');
  write('d/x.mjs', 'd_x');
  write('_real.mjs', 'real');
  symlinkSync('../_real.mjs', join(folder, 'd/inside.mjs'));
  symlinkSync('/etc/passwd', join(folder, 'd/outside.mjs'));
  expect(await scan()).toEqual({
    tools: ['d/inside.mjs', 'd/x.mjs'],
    problems: [
      'C/X.mjs tool.file.invalid: twin',
      'a/one.mjs tool.invalid: name.duplicate',
      'b/two.mjs tool.invalid: name.duplicate',
      'c/x.mjs tool.file.invalid: twin',
      'd/outside.mjs tool.file.invalid: symlink',
    ],
  });
});

test.skipIf(process.platform === 'win32')('an unreadable subfolder does not affect other files', async () => {
  write('good.mjs', 'good');
  write('well/good.mjs', 'well_good');
  // No user can open a path of more than 4,096 characters.
  execFileSync('bash', ['-c', 'for i in {1..20}; do mkdir "$1" && cd "$1"; done', '--', 'x'.repeat(250)], {
    cwd: folder,
  });
  const { tools, problems } = await scan();
  execFileSync('rm', ['-rf', folder]);
  expect(tools).toEqual(['good.mjs', 'well/good.mjs']);
  expect(problems).toEqual([expect.stringMatching(/^x{250}\/.* tool\.file\.invalid: folder\.unreadable$/)]);
});
