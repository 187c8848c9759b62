import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A folder that is removed at the end of the block: `await using folder = await createFolder()`. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  write(path: string, content: string | Uint8Array): Promise<void>;
  link(path: string, target: string): Promise<void>;
}

/** A new folder with `files` by relative path. */
export async function createFolder(files: Readonly<Record<string, string>> = {}): Promise<TestFolder> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-cli-')));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return {
    path: folder,
    write: (path, content) => writeFile(resolve(folder, path), content),
    link: (path, target) => symlink(target, resolve(folder, path)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The user folder for a program in `directory`, one per directory and test. */
export function toUserFolder(directory: string): string {
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16);
  return join(process.env['HOLDFAST_HOME'] ?? tmpdir(), name);
}
