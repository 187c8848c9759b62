import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FigureReport } from '../report.ts';

/** What a model takes, in a process of its own. */
export async function measureMemory(): Promise<FigureReport> {
  const program = fileURLToPath(new URL('memory-process.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, '--expose-gc', program], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the process that measures memory ended with ${status}: ${stderr}`);
  // Our own program: it prints one list of figures.
  return { name: 'local: memory', figures: JSON.parse(stdout) as FigureReport['figures'] };
}
