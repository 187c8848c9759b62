import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder that is removed at the end of the block: `await using folder = await createFolder()`. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

/** A new folder with `files` by relative path. */
export async function createFolder(files: Readonly<Record<string, string>> = {}): Promise<TestFolder> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-cli-')));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
