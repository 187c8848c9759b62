import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Extent, everything, limitRounds } from '../compare.ts';
import type { FigureReport } from '../report.ts';

/** Measures a model's memory, in a separate process. */
export async function measureMemory(extent: Extent = everything): Promise<FigureReport> {
  const { rounds } = limitRounds({ rounds: 50, warmUpRounds: 0 }, extent);
  const program = fileURLToPath(new URL('memory-process.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...process.execArgv, '--expose-gc', program, String(rounds)],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`the process that measures memory ended with ${status}: ${stderr}`);
  // Our own program: it prints one list of figures.
  return { name: 'local: memory', figures: JSON.parse(stdout) as FigureReport['figures'] };
}
