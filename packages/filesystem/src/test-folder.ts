import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one test, removed when the test's scope is left. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

export async function makeTestFolder(): Promise<TestFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-filesystem-')));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Everything below a folder: by path the kind, the mode and the content, to compare a tree before and after. */
export async function snapshotTree(folder: string): Promise<Record<string, string>> {
  const entries: Record<string, string> = {};
  async function visit(prefix: string): Promise<void> {
    for (const name of (await readdir(join(folder, prefix))).sort()) {
      const key = prefix === '' ? name : `${prefix}/${name}`;
      const path = join(folder, key);
      const stats = await lstat(path);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) entries[key] = `link ${await readlink(path)}`;
      else if (stats.isFile()) entries[key] = `file ${mode} ${(await readFile(path)).toString('base64')}`;
      else entries[key] = `folder ${mode}`;
      if (stats.isDirectory()) await visit(key);
    }
  }
  await visit('');
  return entries;
}

/** Makes a folder what `snapshotTree` said of it. */
export async function restoreTree(folder: string, tree: Readonly<Record<string, string>>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const entries = Object.entries(tree).map(([key, text]) => ({ path: join(folder, key), fields: text.split(' ') }));
  for (const { path, fields } of entries) {
    const [type, , content = ''] = fields;
    if (type === 'folder') await mkdir(path);
    else await writeFile(path, Buffer.from(content, 'base64'));
  }
  // Last, and the inner ones first: a folder may have a mode that lets nobody in.
  for (const { path, fields } of entries.toReversed()) await chmod(path, Number.parseInt(fields[1] ?? '', 8));
}
