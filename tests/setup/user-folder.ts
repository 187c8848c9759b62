import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keeps tests out of the user folder: programs that they start inherit an empty one. */
export default async function setUp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-user-'));
  process.env['HOLDFAST_HOME'] = folder;
  return () => rm(folder, { recursive: true, force: true });
}
