import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isHoldfastError, type ToolContext } from '@holdfast/core';
import { compareLock, loadTools } from '@holdfast/loader';
import type { SwapMessage } from './tool-swapper.ts';

/** The results of the loads. */
export interface SwapEnds {
  /** The tool ran, as it was pinned. */
  ran: number;
  /** The load refused it. */
  refused: number;
  /** It was loaded, and its call refused. */
  failed: number;
  /** Files that were swapped meanwhile. */
  swaps: number;
}

export const noEnds = (): SwapEnds => ({ ran: 0, refused: 0, failed: 0, swaps: 0 });

// All that is used of it.
const context = {
  callId: 'call-1',
  signal: new AbortController().signal,
  begin: async () => undefined,
} as unknown as ToolContext;

/**
 * Locks, loads and calls a tool `loads` times, while another process swaps the tool file and what it imports for others.
 *
 * @throws Error when anything ran that was not pinned.
 */
export async function loadWhileSwapped(loads: number, ends: SwapEnds): Promise<void> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-swaps-')));
  const swapper = fork(fileURLToPath(new URL('./tool-swapper.ts', import.meta.url)), [root]);
  const tell = (message: SwapMessage): boolean => swapper.send(message);
  try {
    for (let load = 0; load < loads; load += 1) {
      const good = filesOf(load);
      for (const [path, text] of Object.entries(good)) {
        await mkdir(dirname(join(root, path)), { recursive: true });
        await rm(join(root, path), { force: true });
        await writeFile(join(root, path), text);
      }
      const [folder, lock] = [join(root, 'plugins'), join(root, 'holdfast.lock')];
      await (await compareLock(folder, { lock })).accept();
      // Half of the loads have a start.
      const isAhead = load % 2 === 0;
      if (!isAhead) tell({ type: 'go', good });
      const loading = loadTools(folder, { lock, isolation: 'in-process' });
      if (isAhead) tell({ type: 'go', good });
      const { tools } = await loading;
      const answer = await call(tools[0]);
      if (answer === load) ends.ran += 1;
      else if (tools.length === 0) ends.refused += 1;
      else if (answer === 'tool.file.changed') ends.failed += 1;
      else throw new Error(`load ${load}: the tool answered ${String(answer)}`);
      tell({ type: 'stop' });
      const [swaps]: readonly unknown[] = await once(swapper, 'message');
      ends.swaps = Number(swaps);
      if (Object.hasOwn(globalThis, 'holdfastEvil')) throw new Error(`load ${load}: code ran that was not pinned`);
    }
  } finally {
    swapper.disconnect();
    await once(swapper, 'exit');
    await rm(root, { recursive: true, force: true });
  }
}

async function call(tool: Awaited<ReturnType<typeof loadTools>>['tools'][number] | undefined): Promise<unknown> {
  try {
    return await tool?.execute?.({}, context);
  } catch (thrown) {
    return isHoldfastError(thrown) ? thrown.code : thrown;
  }
}

function filesOf(load: number): Readonly<Record<string, string>> {
  return {
    'plugins/tool.mjs': `import { word } from '../src/word.mjs';
export const METADATA = {
  name: 'tool', function: 'work', description: 'Works.', dangerous: false,
  parameters: { type: 'object', properties: {} },
};
export const work = async () => word;
`,
    'src/word.mjs': "export { word } from './deeper.mjs';\n",
    'src/deeper.mjs': `export const word = ${load};\n`,
  };
}
