import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Extent } from '../compare.ts';
import type { FigureReport, Report } from '../report.ts';
import { measureCalls } from './calls.ts';
import { measureScan } from './scan.ts';
import { measureWarmStart } from './warm-start.ts';

/** Measures a folder of tools: scanning, reloading, calling and memory. */
export async function measureLoader(extent?: Extent): Promise<readonly Report[]> {
  return [
    ...(await measureCalls(extent)),
    ...(await measureWarmStart(extent)),
    measureMemory(),
    // Last, because imported code stays in memory.
    ...(await measureScan(extent)),
  ];
}

function measureMemory(): FigureReport {
  const program = fileURLToPath(new URL('memory-process.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, '--expose-gc', program], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the process that measures memory ended with ${status}: ${stderr}`);
  // Our own program: it prints one list of figures.
  return { name: 'loader: memory', figures: JSON.parse(stdout) as FigureReport['figures'] };
}
