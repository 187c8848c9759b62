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
  type ModuleDefinition,
  type ModuleEngine,
  type ModuleEvent,
  type ModuleWatch,
} from '@holdfast/modules';
import { folderModules, saveModule } from '@holdfast/modules/node';
import { afterEach, expect, test } from 'vitest';
import { askVersion, question, versionModel } from './test-engine.ts';
import { manifestText, moduleText } from './test-module-texts.ts';

const program = fileURLToPath(new URL('test-module-writer.ts', import.meta.url));
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-modules-'));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A `test-module-writer.ts` that runs. */
function startWriter(folder: string, seed: number): { round(order: string): Promise<number> } {
  const child: ChildProcess = spawn(process.execPath, ['--conditions=holdfast-source', program, folder, `${seed}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  cleanUp.push(async () => {
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

async function watchFolder(
  folder: string,
): Promise<{ readonly engine: ModuleEngine; readonly watch: ModuleWatch; next(): Promise<ModuleEvent> }> {
  const engine = await createModuleEngine({
    source: folderModules(folder),
    signatures: [question],
    model: versionModel(),
  });
  const watch = await engine.watch();
  cleanUp.push(() => watch.close());
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

/** What is in force, and what is wrong. */
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

test.each([1, 2, 3])('a folder that another process edits without an end, seed %i', async (seed) => {
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
      if (!isHoldfastError(thrown) || thrown.code !== 'modules.not_found') throw thrown;
    }
  };
  const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isReached())) {
      await next();
      await Promise.all(['a', 'b', 'c', 'd', 'deep.e'].map(ask));
    }
  };
  const versionOf = (id: string): string | undefined => engine.getModule(id)?.definition.instruction;
  const isAsFolder = async (): Promise<boolean> =>
    JSON.stringify(describeEngine(engine)) === JSON.stringify(await describeFolder(folder));

  await mkdir(join(folder, 'deep'));
  for (let count = 0; count < 12; count += 1) {
    const round = await writer.round(count === 5 ? 'mend' : 'go');
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
  expect(seen.size).toBeGreaterThan(5);
});

test('modules that are saved while they are watched are added and changed, and never fail', async () => {
  const folder = await createFolder();
  const { engine, watch, next } = await watchFolder(folder);
  expect(engine.diagnostics).toMatchObject([{ code: 'modules.manifest_missing' }]);
  for (let version = 1; version <= 10; version += 1) {
    for (const id of ['a', 'b']) await saveModule(folder, JSON.parse(moduleText(id, version)) as ModuleDefinition);
    const isThere = (id: string): boolean => engine.getModule(id)?.definition.instruction === `Version ${version}.`;
    while (!isThere('a') || !isThere('b')) await next();
  }
  expect(watch.counters).toMatchObject({ reloaded: 20, failed: 0, removed: 0 });
  expect(engine.diagnostics).toEqual([]);
});

test('a watched folder keeps the process alive until the watch is closed, and no longer', async () => {
  const folder = await createFolder();
  await writeFile(join(folder, 'manifest.json'), manifestText(['a']));
  await writeFile(join(folder, 'a.json'), moduleText('a', 1));
  const script = `
    const { createModuleEngine, defineSignature } = await import('@holdfast/modules');
    const { folderModules } = await import('@holdfast/modules/node');
    const { jsonSchema } = await import('@holdfast/core');
    const text = (name) => jsonSchema({ type: 'object', properties: { [name]: { type: 'string' } } });
    const question = defineSignature({ name: 'question', inputSchema: text('question'), outputSchema: text('answer') });
    const engine = await createModuleEngine({ source: folderModules(process.argv[1]), signatures: [question], model: { id: 'none:none' } });
    const watch = await engine.watch();
    process.stdout.write('watching');
    for await (const { type } of watch) {
      process.stdout.write(' ' + type);
      watch.close();
    }
    process.stdout.write(' ended');
  `;
  const child = spawn(process.execPath, ['--conditions=holdfast-source', '--input-type=module', '-e', script, folder], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  cleanUp.push(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (part: Buffer) => {
    // Only now: nothing else would keep it alive.
    if (said === '') void writeFile(join(folder, 'a.json'), moduleText('a', 2));
    said += part.toString();
  });
  expect(await ended).toEqual([0, null]);
  expect(said).toBe('watching module-changed ended');
});
