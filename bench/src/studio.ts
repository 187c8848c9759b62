import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figure, FigureReport } from './report.ts';

const program = fileURLToPath(new URL('../../apps/cli/src/testing/test-speed.ts', import.meta.url));

/**
 * The page of the studio with `records` calls: the first read of the logs, a filter as the page asks for it (time and CPU time of the
 * process), and in Chromium, where there is one, the first paint and a filter until its rows are drawn.
 */
export function measureStudio(records = 100_000): Promise<FigureReport> {
  const words = ['--conditions=holdfast-source', program, String(records)];
  const figures = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as readonly Figure[];
  return Promise.resolve({ name: `studio: ${records.toLocaleString('en')} calls in 20 sessions`, figures });
}
