import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { scanFolder } from '@holdfast/loader/internal';
import { parseSync } from 'oxc-parser';
import { type CompareOptions, compare, type Extent, everything, limitRounds } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { createToolProject } from './project.ts';

const sizes: readonly { readonly count: number; readonly options: CompareOptions }[] = [
  { count: 100, options: { rounds: 15, warmUpRounds: 5 } },
  { count: 1_000, options: { rounds: 7, warmUpRounds: 1 } },
  // Few, because imported code stays in memory.
  { count: 10_000, options: { rounds: 3, warmUpRounds: 0 } },
];

/** Measures scanning the tools of a folder without a cache. */
export async function measureScan(extent: Extent = everything): Promise<readonly TimeReport[]> {
  const reports: TimeReport[] = [];
  for (const { count, options } of sizes.filter((size) => size.count <= extent.largest)) {
    reports.push(await measureOne(count, limitRounds(options, extent)));
  }
  return reports;
}

async function measureOne(count: number, options: CompareOptions): Promise<TimeReport> {
  using project = createToolProject(count);
  let imports = 0;
  const rows = await compare(
    [
      { name: 'parse', operations: count, prepare: () => () => parseAll(project.files) },
      {
        name: 'import',
        operations: count,
        prepare: () => {
          imports += 1;
          return () => importAll(project.files, imports);
        },
      },
      {
        name: 'scan',
        operations: count,
        against: [
          { name: 'parse', goal: 1.2 },
          { name: 'import', goal: 1 },
        ],
        prepare: () => async () => {
          const { files, diagnostics } = await scanFolder(project.plugins);
          const found = files.filter(({ type }) => type === 'tool').length;
          if (found !== count || diagnostics.length > 0) throw new Error(`the scan found ${found} of ${count} tools`);
        },
      },
    ],
    options,
  );
  const notes = [
    'For one file. parse: read and parsed by the parser that the scan uses, its tree taken.',
    'import: `import()`, which runs it. scan: `scanFolder`, every check of every file.',
  ];
  return { name: `loader: ${count.toLocaleString('en')} files, cold`, notes, rows };
}

function parseAll(files: readonly string[]): void {
  for (const path of files) {
    const { errors, program } = parseSync('tool.mjs', readFileSync(path, 'utf8'), parserOptions);
    if (errors.length > 0 || program.body.length === 0) throw new Error(`\`${path}\` is not a module`);
  }
}

const parserOptions = { sourceType: 'module', showSemanticErrors: true } as const;

async function importAll(files: readonly string[], time: number): Promise<void> {
  for (const path of files) {
    const url = pathToFileURL(path);
    // Imported modules are cached.
    url.searchParams.set('time', String(time));
    await import(url.href);
  }
}
