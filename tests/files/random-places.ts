import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Filesystem, FilesystemReader, StagedResource } from '@holdfast/core';
import { memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';

/** The folders of one run. */
export interface Place extends AsyncDisposable {
  readonly filesystem: StagedResource<Filesystem, FilesystemReader>;
  /** Every file and folder with its content and mode. */
  look(): Promise<unknown>;
}

export function memoryPlace(): Place {
  const filesystem = memoryFilesystem({ 'kept.txt': 'kept', 'ignored/kept.txt': 'kept' });
  const { readOnly } = filesystem;
  const visit = async (folder: string): Promise<unknown[]> => {
    const entries = await readOnly.list(folder);
    return await Promise.all(
      entries.map(async ({ path, type }) => [
        path,
        type === 'file' ? await readOnly.readText(path) : await visit(path),
      ]),
    );
  };
  return { filesystem, look: () => visit(''), [Symbol.asyncDispose]: async () => undefined };
}

export async function hostPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-calls-'));
  await mkdir(join(folder, 'ignored/empty'), { recursive: true });
  await mkdir(join(folder, '.git'));
  await writeFile(join(folder, '.gitignore'), 'ignored\n');
  await writeFile(join(folder, 'ignored/kept.txt'), 'kept');
  await writeFile(join(folder, 'kept.txt'), 'kept', { mode: 0o640 });
  const visit = async (path: string): Promise<unknown[]> => {
    const names = (await readdir(path)).sort();
    return await Promise.all(
      names.map(async (name) => {
        const inner = join(path, name);
        const stats = await lstat(inner);
        const content = stats.isDirectory() ? await visit(inner) : (await readFile(inner)).toString('base64');
        return [name, stats.mode, content];
      }),
    );
  };
  return {
    filesystem: hostFilesystem(folder),
    look: () => visit(folder),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
