import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const memory = '/dev/shm';
const neededBytes = 2 ** 30;

/**
 * Keeps the folders of tests in memory, on Linux: stores and journals sync every record, and waiting for a disk takes longer than the tests.
 * The long suites use the disk. `TMPDIR` overrides both.
 */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (process.platform !== 'linux' || process.env['TMPDIR'] !== undefined) return undefined;
  const folder = await createFolder();
  if (folder === undefined) return undefined;
  process.env['TMPDIR'] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** `undefined` in a container whose memory folder is missing, small, or mounted without permission to run programs. */
async function createFolder(): Promise<string | undefined> {
  let folder: string | undefined;
  try {
    const { bavail, bsize } = await statfs(memory);
    if (bavail * bsize < neededBytes) return undefined;
    folder = await mkdtemp(join(memory, 'holdfast-'));
    const program = join(folder, 'program');
    await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    return folder;
  } catch {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    return undefined;
  }
}
