import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { executeToolCall } from '@holdfast/executor';
import { type Isolation, watchTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { expect } from 'vitest';

export interface ReloadPlan {
  readonly isolation: Isolation;
  readonly reloads: number;
  /** A call after every so many reloads. */
  readonly callEvery: number;
  /** Told after each reload. */
  readonly onReload?: (done: number) => void;
}

/** Counts in a process that must not grow. */
export interface Holdings {
  /** After a collection. */
  readonly heapBytes: number;
  /** Processes that it has started and that have not ended; 0 where the system does not say. */
  readonly processes: number;
  /** Threads of its own; 0 where the system does not say. */
  readonly threads: number;
  /** Watches, timers, pipes and the like that keep it alive. */
  readonly handles: number;
  readonly listeners: number;
}

setFlagsFromString('--expose-gc');
// The flag makes a global of every new context.
const collect = runInNewContext('gc') as () => void;

function takeStock(): Holdings {
  collect();
  return {
    heapBytes: process.memoryUsage().heapUsed,
    processes: listTasks().reduce((sum, task) => sum + countChildren(task), 0),
    threads: listTasks().length,
    handles: process.getActiveResourcesInfo().length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

const tasks = '/proc/self/task';

function listTasks(): readonly string[] {
  return existsSync(tasks) ? readdirSync(tasks) : [];
}

function countChildren(task: string): number {
  try {
    return readFileSync(join(tasks, task, 'children'), 'utf8')
      .split(' ')
      .filter(Boolean).length;
  } catch {
    // That thread has ended meanwhile.
    return 0;
  }
}

/** Of everything but memory, whose limit depends on the number of reloads. Some come and go: a process that is ending, a thread of Node's own. */
export function expectNoMore(early: Holdings, late: Holdings): void {
  for (const kind of ['processes', 'threads', 'handles', 'listeners'] as const)
    expect(late[kind], kind).toBeLessThanOrEqual(early[kind] + 2);
}

const toText = (answer: number): string => `import { base } from './_base.mjs';
export const METADATA = {
  name: 'count', function: 'count', description: 'Count.', dangerous: false,
  parameters: { type: 'object', properties: {} },
};
export const count = () => [base, ${answer}];
`;

/**
 * Watches a folder, changes its tool or what that imports time after time, and calls it: it is always the newest good one. Answers what
 * the process had after a fifth of the reloads, and what it has at the end, before the watch is closed.
 */
export async function checkReloads({ isolation, reloads, callEvery, onReload }: ReloadPlan): Promise<{
  readonly early: Holdings;
  readonly late: Holdings;
  /** The most copies that there were at once. */
  readonly copies: number;
  readonly calls: number;
}> {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-reloads-'));
  const plugins = join(root, 'plugins');
  mkdirSync(plugins);
  writeFileSync(join(plugins, '_base.mjs'), 'export const base = 0;');
  writeFileSync(join(plugins, 'count.mjs'), toText(0));
  const watched = await watchTools(plugins, { isolation });
  const good = [0, 0];
  let early: Holdings | undefined;
  let copies = 0;
  let calls = 0;
  try {
    for (let reload = 1; reload <= reloads; reload += 1) {
      const isBroken = reload % 7 === 0;
      if (reload % 5 === 0) writeFileSync(join(plugins, '_base.mjs'), `export const base = ${reload};`);
      writeFileSync(join(plugins, 'count.mjs'), isBroken ? 'export const' : toText(reload));
      await watched.reload();
      // The broken one keeps what it was made of, too.
      if (!isBroken) good.splice(0, 2, reload - (reload % 5), reload);
      if (reload % callEvery === 0) {
        const outcome = await executeToolCall(
          { name: 'count', arguments: {} },
          { tools: watched.tools, session: createSession() },
        );
        if (outcome.kind !== 'ok') throw new Error(`Reload ${reload}: ${JSON.stringify(outcome)}`);
        expect(outcome.value).toEqual(good);
        calls += 1;
        copies = Math.max(copies, countCopies(root));
      }
      if (reload === Math.ceil(reloads / 5)) early = takeStock();
      onReload?.(reload);
    }
    // Old processes may take a moment to end; one process waits for the next call.
    let late = takeStock();
    while (early !== undefined && late.processes > early.processes + 1) {
      await new Promise((resolve) => setImmediate(resolve));
      late = takeStock();
    }
    return { early: early ?? late, late, copies, calls };
  } finally {
    await watched.close();
    const left = readdirSync(join(root, '.holdfast'));
    rmSync(root, { recursive: true, force: true });
    expect(left).toEqual(['.gitignore']);
  }
}

function countCopies(root: string): number {
  const home = join(root, '.holdfast');
  const names = readdirSync(home).filter((name) => name.startsWith('watch-'));
  return names.reduce((sum, name) => sum + readdirSync(join(home, name)).length, 0);
}
