import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './holdfast.ts';

/** Number of copies to keep for inspection. */
const kept = 10;

/** Copies the sample project to a new, git-ignored folder and returns its path. Deletes old copies. */
export function copySample(parent: string = join(root, '.holdfast/start')): string {
  mkdirSync(parent, { recursive: true });
  for (const old of oldest(parent)) rmSync(old, { recursive: true, force: true });
  const copy = mkdtempSync(join(parent, 'sample-'));
  cpSync(join(root, 'examples/sample-project'), copy, { recursive: true });
  return copy;
}

function oldest(parent: string): readonly string[] {
  return readdirSync(parent)
    .filter((name) => name.startsWith('sample-'))
    .map((name) => join(parent, name))
    .map((path) => ({ path, madeAtMs: statSync(path).birthtimeMs }))
    .sort((a, b) => b.madeAtMs - a.madeAtMs)
    .slice(kept - 1)
    .map(({ path }) => path);
}
