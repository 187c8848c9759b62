import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Extent, everything } from '../compare.ts';
import type { FigureReport } from '../report.ts';

// Young collections only on request, without concurrent marking: marked objects would survive by chance.
const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64', '--predictable'];

/** Measures the memory that runs leave behind, in a separate process with an otherwise empty heap. */
export async function measureMemory({ rounds }: Extent = everything): Promise<FigureReport> {
  const program = fileURLToPath(new URL('memory-process.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...process.execArgv, ...flags, program, String(Math.min(7, rounds))],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the process that measures memory ended with ${status}: ${stderr}`);
  // Our own program: it prints one list of figures.
  return { name: 'call-path: memory', figures: JSON.parse(stdout) as FigureReport['figures'] };
}
