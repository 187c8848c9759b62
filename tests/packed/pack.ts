import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Packs every package that is published into `folder`. They have to be built. */
export async function packAll(folder: string): Promise<void> {
  const parameters = ['--yes', 'pnpm@12.21.0', '--filter', './packages/*', '--filter', 'holdfast', 'pack'];
  await promisify(execFile)('npx', [...parameters, '--pack-destination', folder], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    shell: process.platform === 'win32',
  });
}
