import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const packages = await readdir(join(root, 'packages'));

/** Inside the package, so that a program finds the package itself and what it declares. */
function scratch(name: string): string {
  return join(root, 'packages', name, '.cache');
}

afterAll(() => Promise.all(packages.map((name) => rm(scratch(name), { recursive: true, force: true }))));

/** The fences of a README by the path they are written to: their first line may name one. */
async function readFences(name: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(root, 'packages', name, 'README.md'), 'utf8');
  const fences = [...text.matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map(([, fence = '']) => fence);
  return new Map(
    fences.map((fence, index) => [/^\/\/ (\S+\.m?[jt]s)\n/.exec(fence)?.[1] ?? `program-${index}.ts`, fence]),
  );
}

/** What the program says of its own output: the comment after each `console.log(...);` on one line. */
function readPromises(program: string): readonly string[] {
  return [...program.matchAll(/^console\.log\(.*\); \/\/ (.+)$/gm)].map(([, promise = '']) => promise);
}

// Objects are printed with more space than a comment has.
function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}

test.each(packages)('the README of %s shows a program that runs, and says what it prints', async (name) => {
  const folder = scratch(name);
  const fences = await readFences(name);
  for (const [path, fence] of fences) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), fence);
  }
  const programs = [...fences].filter(([path, fence]) => path.startsWith('program-') && fence.includes('import '));
  expect(programs).not.toEqual([]);
  for (const [path, program] of programs) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=holdfast-source', path], {
      cwd: folder,
    });
    for (const promise of readPromises(program)) expect(withoutSpace(stdout)).toContain(withoutSpace(promise));
  }
});
