import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isHoldfastError } from '@holdfast/core';
import {
  createModuleEngine,
  loadModules,
  type ModuleEngine,
  type ModuleEvent,
  type ModuleWatch,
} from '@holdfast/modules';
import { folderModules } from '@holdfast/modules/node';
import { expect } from 'vitest';
import { askVersion, question, versionModel } from './test-engine.ts';
import { manifestText, moduleText } from './test-module-texts.ts';

const program = fileURLToPath(new URL('test-module-writer.ts', import.meta.url));
/** To be done after each test, the last first. */
const toCleanUp: (() => unknown)[] = [];

export async function cleanUp(): Promise<void> {
  for (const clean of toCleanUp.splice(0).reverse()) await clean();
}

export async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-modules-'));
  toCleanUp.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A `test-module-writer.ts` that runs. */
function startWriter(folder: string, seed: number): { round(order: string): Promise<number> } {
  const child: ChildProcess = spawn(process.execPath, ['--conditions=holdfast-source', program, folder, `${seed}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  toCleanUp.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    async round(order) {
      child.stdin?.write(`${order}\n`);
      const [said] = await Promise.race([once(child.stdout ?? child, 'data'), ended]);
      const round = Number(`${said}`);
      if (!(round > 0)) throw new Error(`The writer ended: ${said}`);
      return round;
    },
  };
}

export async function watchFolder(
  folder: string,
): Promise<{ readonly engine: ModuleEngine; readonly watch: ModuleWatch; next(): Promise<ModuleEvent> }> {
  const engine = await createModuleEngine({
    source: folderModules(folder),
    signatures: [question],
    model: versionModel(),
  });
  const watch = await engine.watch();
  toCleanUp.push(() => watch.close());
  const reader = watch[Symbol.asyncIterator]();
  return {
    engine,
    watch,
    async next() {
      const { value, done } = await reader.next();
      if (done === true) throw new Error('The watch has ended.');
      return value;
    },
  };
}

/** The modules in force, and the problems. */
function describeEngine(engine: ModuleEngine): object {
  return {
    hashes: engine.moduleIds.map((id) => `${id} ${engine.getModule(id)?.hash}`),
    problems: engine.diagnostics.map(({ code, moduleId }) => `${moduleId} ${code}`),
  };
}

async function describeFolder(folder: string): Promise<object> {
  const { modules, diagnostics } = await loadModules(folderModules(folder), { signatures: [question] });
  return {
    hashes: [...modules].map(([id, { hash }]) => `${id} ${hash}`),
    problems: diagnostics.map(({ code, moduleId }) => `${moduleId} ${code}`),
  };
}

/**
 * Watches a folder while another process edits it, round after round, and asks its modules all the time: each answers with a version of
 * itself. At the end what is in force is what a fresh load of the folder gives, but for what is broken, which stays as it was.
 * Answers how many versions have answered.
 */
export async function checkFolder(rounds: number, seed: number): Promise<number> {
  const folder = await createFolder();
  await writeFile(join(folder, 'manifest.json'), manifestText(['marker']));
  await writeFile(join(folder, 'marker.json'), moduleText('marker', 0));
  const { engine, next } = await watchFolder(folder);
  const writer = startWriter(folder, seed);
  const seen = new Set<string>();
  const ask = async (id: string): Promise<void> => {
    try {
      const version = await askVersion(engine, id);
      // Every version names its module.
      if (!version.startsWith(`${id}-`)) throw new Error(`\`${id}\` answered \`${version}\`.`);
      seen.add(version);
    } catch (thrown) {
      if (!isHoldfastError(thrown) || thrown.reason !== 'not_found') throw thrown;
    }
  };
  const askAll = (): Promise<unknown> => Promise.all(['a', 'b', 'c', 'd', 'deep.e'].map(ask));
  const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isReached())) {
      await next();
      await askAll();
    }
  };
  const askWhile = async <Value>(waiting: Promise<Value>): Promise<Value> => {
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        await askAll();
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    try {
      return await waiting;
    } finally {
      isOver = true;
      await asking;
    }
  };
  const versionOf = (id: string): string | undefined => engine.getModule(id)?.definition.instruction;
  const isAsFolder = async (): Promise<boolean> =>
    JSON.stringify(describeEngine(engine)) === JSON.stringify(await describeFolder(folder));

  await mkdir(join(folder, 'deep'));
  for (let count = 0; count < rounds; count += 1) {
    const round = await askWhile(writer.round(count % 12 === 5 ? 'mend' : 'go'));
    // The marker is written last, so what came before it is told before it, or with it.
    await until(() => versionOf('marker') === `Version ${round}.`);
  }
  await writer.round('mend');
  await until(isAsFolder);
  expect(engine.moduleIds).toEqual(['a', 'b', 'c', 'd', 'deep.e', 'marker']);
  expect(engine.diagnostics).toEqual([]);

  await writer.round('damage');
  await until(() => engine.getModule('d') === undefined && engine.diagnostics.length === 2);
  const fresh = await loadModules(folderModules(folder), { signatures: [question] });
  expect(engine.diagnostics).toEqual(fresh.diagnostics);
  expect(engine.moduleIds).toEqual(['a', 'b', 'c', 'deep.e', 'marker']);
  expect([...fresh.modules.keys()]).toEqual(['a', 'b', 'deep.e', 'marker']);
  await until(async () => [...fresh.modules].every(([id, { hash }]) => engine.getModule(id)?.hash === hash));
  return seen.size;
}
