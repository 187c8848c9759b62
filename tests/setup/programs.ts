import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';

const loader = fileURLToPath(new URL('../../packages/loader/', import.meta.url));

/** Hundreds of tests start the programs of tool processes and Python: both start in a fraction of the time from here. */
export default async function setUp(): Promise<() => Promise<void>> {
  usePythonItself();
  const cache = join(loader, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'programs-'));
  await build({
    config: false,
    cwd: loader,
    entry: ['src/tool-process-main.ts', 'src/tool-worker-main.ts'],
    outDir: folder,
    platform: 'node',
    dts: false,
    logLevel: 'error',
    deps: { alwaysBundle: [/^@holdfast\//] },
    inputOptions: { resolve: { conditionNames: ['holdfast-source', 'import', 'node', 'default'] } },
  });
  process.env['HOLDFAST_TOOL_PROGRAMS'] = folder;
  return () => rm(folder, { recursive: true, force: true });
}

/** The first `python3` of the PATH may be a script that looks for the right one at every start: from here on it is that one. */
function usePythonItself(): void {
  try {
    const found = execFileSync('python3', ['-I', '-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
    process.env['PATH'] = [dirname(found.trim()), process.env['PATH']].join(delimiter);
  } catch {
    // Without Python its tests say so.
  }
}
