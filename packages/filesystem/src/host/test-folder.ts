import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one test, removed at the end of the scope. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

export async function makeTestFolder(): Promise<TestFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-filesystem-')));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

// The functions below run thousands of times; synchronous calls take a third of the time.

/** A snapshot of everything below a folder: kind, mode and content by path. */
export function snapshotTree(folder: string): Record<string, string> {
  const entries: Record<string, string> = {};
  function visit(prefix: string): void {
    for (const name of readdirSync(join(folder, prefix)).sort()) {
      const key = prefix === '' ? name : `${prefix}/${name}`;
      const path = join(folder, key);
      const stats = lstatSync(path);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) entries[key] = `link ${readlinkSync(path)}`;
      else if (stats.isFile()) entries[key] = `file ${mode} ${readFileSync(path).toString('base64')}`;
      else entries[key] = `folder ${mode}`;
      if (stats.isDirectory()) visit(key);
    }
  }
  visit('');
  return entries;
}

/** Restores a folder from a snapshot. */
export function restoreTree(folder: string, tree: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const entries = Object.entries(tree).map(([key, text]) => ({ path: join(folder, key), fields: text.split(' ') }));
  for (const { path, fields } of entries) {
    const [type, , content = ''] = fields;
    if (type === 'folder') mkdirSync(path);
    else writeFileSync(path, Buffer.from(content, 'base64'));
  }
  // Last, and inner folders first: a mode may prevent access.
  for (const { path, fields } of entries.toReversed()) chmodSync(path, Number.parseInt(fields[1] ?? '', 8));
}
