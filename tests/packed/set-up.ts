import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { packAll } from './pack.ts';
import { readPackages } from './packed-package.ts';
import { startRegistry } from './registry.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the tarballs. */
    readonly tarballs: string;
    /** Where they are served, `http://127.0.0.1:PORT`. */
    readonly registry: string;
  }
}

/** Packs every package once for all tests here, and serves the tarballs on the loopback interface. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-packed-')));
  await packAll(folder);
  const registry = await startRegistry(await readPackages(folder));
  provide('tarballs', folder);
  provide('registry', registry.url);
  return async () => {
    await registry.stop();
    await rm(folder, { recursive: true });
  };
}
