import { glob, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packAll } from 'holdfast-packed-tests/pack';
import { readPackages } from 'holdfast-packed-tests/packed-package';
import { startRegistry } from 'holdfast-packed-tests/registry';
import { createProject, readCatalogVersion } from 'holdfast-packed-tests/stranger';
import type { FigureReport } from './report.ts';

const packages = ['core', 'executor', 'policy', 'prompt', 'session'].map((name) => `@holdfast/${name}`);

/** Measures the installation for a tool and a loop, from the packed packages into an empty project. */
export async function measureInstall(): Promise<FigureReport> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  await packAll(folder);
  const registry = await startRegistry(await readPackages(folder));
  const startedAtMs = performance.now();
  const project = await createProject(registry.url, [...packages, `valibot@${await readCatalogVersion('valibot')}`]);
  const seconds = (performance.now() - startedAtMs) / 1000;
  let bytes = 0;
  let files = 0;
  for await (const path of glob('node_modules/**/*', { cwd: project.folder })) {
    const entry = await stat(join(project.folder, path));
    if (!entry.isFile()) continue;
    bytes += entry.size;
    files += 1;
  }
  await Promise.all([project.remove(), registry.stop(), rm(folder, { recursive: true })]);
  return {
    name: 'install',
    figures: [
      { name: 'packages', value: project.installed.length, unit: 'packages', goal: 9 },
      { name: 'size', value: Math.round(bytes / 1000), unit: 'kB' },
      { name: 'files', value: files, unit: 'files' },
      { name: 'npm install, once', value: Number(seconds.toFixed(1)), unit: 's' },
    ],
  };
}
