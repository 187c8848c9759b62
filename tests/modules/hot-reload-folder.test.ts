import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModuleDefinition } from '@holdfast/modules';
import { saveModule } from '@holdfast/modules/node';
import { afterEach, expect, test } from 'vitest';
import { checkFolder, cleanUp, createFolder, watchFolder } from './test-module-folder.ts';
import { manifestText, moduleText } from './test-module-texts.ts';

afterEach(cleanUp);

test('a folder that another process edits again and again', async () => {
  expect(await checkFolder(7, 1)).toBeGreaterThan(7);
});

test('modules that are saved while they are watched are added and changed, and never fail', async () => {
  const folder = await createFolder();
  const { engine, watch, next } = await watchFolder(folder);
  expect(engine.diagnostics).toMatchObject([{ code: 'modules.invalid', reason: 'manifest_missing' }]);
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
  // Put there as a whole: half of it would be another event.
  await writeFile(join(folder, 'next.json'), moduleText('a', 2));
  const script = `
    const { createModuleEngine, defineSignature } = await import('@holdfast/modules');
    const { folderModules } = await import('@holdfast/modules/node');
    const { jsonSchema } = await import('@holdfast/schema/json');
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
  let said = '';
  child.stdout.on('data', (part: Buffer) => {
    // Only now: nothing else would keep it alive.
    if (said === '') renameSync(join(folder, 'next.json'), join(folder, 'a.json'));
    said += part.toString();
  });
  expect(await ended).toEqual([0, null]);
  expect(said).toBe('watching module-changed ended');
});
