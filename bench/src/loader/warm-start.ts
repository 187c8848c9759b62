import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTools } from '@holdfast/loader';
import { type CompareOptions, compare, type Extent, everything, limitRounds } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { createToolProject, lockProject, type ToolProject } from './project.ts';

const sizes: readonly { readonly count: number; readonly options: CompareOptions }[] = [
  { count: 100, options: { rounds: 30, warmUpRounds: 10 } },
  { count: 1_000, options: { rounds: 20, warmUpRounds: 5 } },
  { count: 10_000, options: { rounds: 9, warmUpRounds: 2 } },
];

/** Measures loading the tools of an unchanged, locked folder. */
export async function measureWarmStart(extent: Extent = everything): Promise<readonly TimeReport[]> {
  const reports: TimeReport[] = [];
  for (const { count, options } of sizes.filter((size) => size.count <= extent.largest)) {
    reports.push(await measureOne(count, limitRounds(options, extent)));
  }
  return reports;
}

async function measureOne(count: number, options: CompareOptions): Promise<TimeReport> {
  using project = createToolProject(count);
  await lockProject(project);
  await load(project, count);
  const registry = join(project.root, '.holdfast', 'registry.json');
  const rows = await compare(
    [
      {
        name: 'stat and read',
        operations: 1,
        prepare: () => () => {
          for (const path of project.files) if (!lstatSync(path).isFile()) throw new Error(`no file \`${path}\``);
          return [registry, project.lock].map((path): unknown => JSON.parse(readFileSync(path, 'utf8')));
        },
      },
      {
        name: 'warm start',
        operations: 1,
        against: [{ name: 'stat and read', goal: 1.5 }],
        prepare: () => () => load(project, count),
      },
    ],
    options,
  );
  const notes = [
    'stat and read: of every file its state, and registry.json and the lock parsed. warm start: `loadTools` with a lock, until the tools are there.',
  ];
  return { name: `loader: ${count.toLocaleString('en')} files, warm`, notes, rows };
}

async function load({ plugins, lock }: ToolProject, count: number): Promise<void> {
  const { tools, diagnostics, close } = await loadTools(plugins, { lock, isolation: 'in-process' });
  await close();
  if (tools.length !== count || diagnostics.length > 0)
    throw new Error(`${tools.length} of ${count} tools were loaded`);
}
