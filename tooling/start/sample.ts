import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './holdfast.ts';

/** Copies the sample project to a fresh folder that git ignores, and answers its path. */
export function copySample(): string {
  const parent = join(root, '.holdfast/start');
  mkdirSync(parent, { recursive: true });
  const copy = mkdtempSync(join(parent, 'sample-'));
  cpSync(join(root, 'examples/sample-project'), copy, { recursive: true });
  return copy;
}
