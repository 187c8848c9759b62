import { describeCode } from '@holdfast/core/internal';
import { createModuleEngine, loadModules, type ModuleSource, memoryModules } from '@holdfast/modules';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { describeEvent, question, startEngine, versionModel } from './test-engine.ts';
import { manifestText, moduleFiles, moduleText } from './test-module-texts.ts';

test('MOD-18: a module that the manifest lists by now is loaded by its id', async () => {
  const { engine, source, ask } = await startEngine(moduleFiles(['a']));
  source.write('b.json', moduleText('b', 3));
  await expect(engine.reloadModule('b')).rejects.toMatchObject({ code: 'modules.file_failed', reason: 'not_found' });
  source.write('manifest.json', manifestText(['b', 'a']));
  expect((await engine.reloadModule('b')).map(describeEvent)).toEqual(['module-added b']);
  expect(await ask('b')).toBe('3');
});

test('MOD-18: one that the manifest lists with an entry that is refused is known all the same', async () => {
  const files = { 'a.json': moduleText('a', 1), 'manifest.json': manifestText({ a: { path: '../a.json' } }) };
  const { engine, source } = await startEngine(files);
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual(['module-failed a modules.invalid: path']);
  source.write('manifest.json', manifestText(['a']));
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual(['module-added a']);
});

test('diagnostics are those of the manifest first, and `strict` says how many errors there are', async () => {
  const manifest = { ...JSON.parse(manifestText(['a', 'b'])), extra: 1 };
  const files = { 'a.json': '', 'b.json': moduleText('b', 1), 'manifest.json': JSON.stringify(manifest) };
  const { engine } = await startEngine(files);
  expect(engine.diagnostics.map(({ severity, ...kind }) => `${severity} ${describeCode(kind)}`)).toEqual([
    'warning modules.invalid: manifest',
    'error modules.invalid: file',
  ]);
  const strict = (more: object): Promise<unknown> => startEngine({ ...files, ...more }, { strict: true });
  await expect(strict({})).rejects.toThrow(/^(?!.*data\.diagnostics).*Cannot load/s);
  await expect(strict({ 'b.json': '' })).rejects.toThrow('`data.diagnostics` has all 2 problems.');
});

test('a module that has moved is another version, and one with a warning only is not', async () => {
  const signature = { inputs: [{ name: 'question', field_type: 'words' }], outputs: [{ name: 'answer' }] };
  const text = moduleText('a', 1, { signature });
  const { engine, source } = await startEngine({ 'a.json': text, 'manifest.json': manifestText(['a']) });
  expect(engine.diagnostics).toMatchObject([
    { severity: 'warning', code: 'modules.invalid', reason: 'field_type_unknown' },
  ]);
  expect((await engine.reloadAll()).map(describeEvent)).toEqual(['module-skipped a']);
  source.write('moved.json', text);
  source.write('manifest.json', manifestText({ a: { path: 'moved.json' } }));
  expect((await engine.reloadAll()).map(describeEvent)).toEqual(['module-changed a']);
  expect(engine.getModule('a')).toMatchObject({ path: 'moved.json' });
});

test('what was loaded is frozen', async () => {
  const { modules } = await loadModules(memoryModules(moduleFiles(['a'])), { signatures: [question] });
  const module = modules.get('a');
  for (const part of [module, module?.definition, module?.definition.demos, module?.tags, module?.program])
    expect(Object.isFrozen(part)).toBe(true);
});

test('what a source throws is told, and not at any length', async () => {
  const source: ModuleSource = {
    name: 'broken',
    async read() {
      throw new Error('x'.repeat(1_000_000));
    },
  };
  const { diagnostics } = await loadModules(source, { signatures: [] });
  expect(diagnostics).toMatchObject([
    { code: 'modules.invalid', reason: 'unreadable', severity: 'error', path: 'manifest.json' },
  ]);
  expect(diagnostics[0]?.message.length).toBeLessThan(500);
});

/** A source that goes on telling of changes when it is not watched any more. */
function talkative(files: Readonly<Record<string, string>>) {
  const source = memoryModules(files);
  let tell: (path: string | undefined) => void = () => undefined;
  const watched: ModuleSource = {
    ...source,
    async watch(changed) {
      tell = changed;
      return { close: () => undefined };
    },
  };
  return { source: watched, write: source.write, tell: (path?: string) => tell(path) };
}

test('a watch that is closed counts nothing, and waits for nothing', async () => {
  const { source, tell, write } = talkative(moduleFiles(['a']));
  const clock = manualClock();
  const engine = await createModuleEngine({ source, signatures: [question], model: versionModel(), clock });
  const watch = await engine.watch();
  const before = watch.counters;
  write('a.json', moduleText('a', 2));
  await engine.reloadAll();
  const { counters } = watch;
  expect([before.reloaded, counters.reloaded]).toEqual([0, 1]);
  expect([Object.isFrozen(counters), before]).toEqual([true, { ...counters, reloaded: 0 }]);
  watch.close();
  tell('a.json');
  expect(clock.pending).toBe(0);
  write('a.json', moduleText('a', 3));
  expect((await engine.reloadAll()).map(describeEvent)).toEqual(['module-changed a']);
  expect(watch.counters).toEqual(counters);
});

test('a change is read 50 ms after it, not before, and very many are one for everything', async () => {
  const { source, tell, write } = talkative(moduleFiles(['a', 'b']));
  const clock = manualClock();
  const engine = await createModuleEngine({ source, signatures: [question], model: versionModel(), clock });
  const watch = await engine.watch();
  const reader = watch[Symbol.asyncIterator]();
  write('a.json', moduleText('a', 2));
  tell('a.json');
  clock.advance(49);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  expect(clock.pending).toBe(0);
  expect((await reader.next()).value).toEqual({ type: 'module-changed', moduleId: 'a' });
  for (let index = 0; index <= 10_000; index += 1) tell(`other${index}.json`);
  clock.advance(50);
  expect([(await reader.next()).value, (await reader.next()).value]).toEqual([
    { type: 'module-skipped', moduleId: 'a' },
    { type: 'module-skipped', moduleId: 'b' },
  ]);
  watch.close();
});

test('closing a watch closes that of the source, once', async () => {
  let closed = 0;
  const source: ModuleSource = {
    ...memoryModules(moduleFiles(['a'])),
    async watch() {
      const close = (): void => {
        closed += 1;
      };
      return { close };
    },
  };
  const engine = await createModuleEngine({ source, signatures: [question], model: versionModel() });
  const watch = await engine.watch();
  watch.close();
  watch.close();
  expect(closed).toBe(1);
});
