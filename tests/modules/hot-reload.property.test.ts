import { createHash } from 'node:crypto';
import { createModuleEngine, type ModuleEngine, type ModuleEvent } from '@holdfast/modules';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askVersion, describeEvent, question, startEngine, versionModel } from './test-engine.ts';
import { manifestText, moduleFiles, moduleText, type TestEntry } from './test-module-texts.ts';

const ids = ['a', 'b', 'c'] as const;
type Id = (typeof ids)[number];

/** The manifest's entry of a module: none, a good one, a bad one, or one that pins a version. */
type Entry = 'absent' | 'plain' | 'tagged' | 'refused' | 1 | 2 | 3;
/** A number is a version. */
type File = number | 'broken' | 'absent' | 'of another' | 'of no signature';
type Manifest = Readonly<Record<Id, Entry>> | 'broken' | 'absent';

type Step =
  | { readonly type: 'file'; readonly id: Id; readonly file: File }
  | { readonly type: 'manifest'; readonly manifest: Manifest }
  | { readonly type: 'reload-one'; readonly id: Id }
  | { readonly type: 'reload-all' | 'settle' | 'ask' };

const anyId = fc.constantFrom(...ids);
const anyFile = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom<File>('broken', 'absent', 'of another', 'of no signature') },
);
const anyEntry = fc.constantFrom<Entry>('absent', 'plain', 'plain', 'plain', 'tagged', 'refused', 1, 2, 3);
const anyManifest = fc.oneof<fc.Arbitrary<Manifest>[]>(
  fc.record({ a: anyEntry, b: anyEntry, c: anyEntry }),
  fc.record({ a: anyEntry, b: anyEntry, c: anyEntry }),
  fc.constantFrom('broken', 'absent'),
);
const anyStep = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.record({ type: fc.constant('file'), id: anyId, file: anyFile }),
  fc.record({ type: fc.constant('file'), id: anyId, file: anyFile }),
  fc.record({ type: fc.constant('manifest'), manifest: anyManifest }),
  fc.record({ type: fc.constant('reload-one'), id: anyId }),
  fc.record({ type: fc.constantFrom('reload-all', 'settle', 'settle', 'ask') }),
);

function fileText(id: Id, file: number | 'broken' | 'of another' | 'of no signature'): string {
  if (file === 'broken') return moduleText(id, 1).slice(0, -5);
  if (file === 'of another') return moduleText(`${id}-other`, 1);
  return file === 'of no signature' ? moduleText(id, 1, { signature_name: 'riddle' }) : moduleText(id, file);
}

function toEntry(id: Id, entry: Exclude<Entry, 'absent'>): TestEntry {
  if (entry === 'plain') return {};
  if (entry === 'tagged') return { tags: ['tagged'] };
  if (entry === 'refused') return { path: `../${id}.json` };
  const hash = createHash('sha256').update(moduleText(id, entry)).digest('hex');
  return { hash: `sha256:${hash}` };
}

function toManifestText(manifest: Readonly<Record<Id, Entry>>): string {
  const listed = ids.flatMap((id) => {
    const entry = manifest[id];
    return entry === 'absent' ? [] : [[id, toEntry(id, entry)] as const];
  });
  return manifestText(Object.fromEntries(listed));
}

/** The modules that must be in force, worked out each time from the files. */
class Expected {
  readonly files: Record<Id, File> = { a: 1, b: 1, c: 'absent' };
  manifest: Manifest = { a: 'plain', b: 'plain', c: 'absent' };
  /** As it was last read for each module. */
  readonly known: Record<Id, Entry> = { a: 'plain', b: 'plain', c: 'absent' };
  /** The answer of each, and its tags. */
  readonly inForce = new Map<Id, string>([
    ['a', '1'],
    ['b', '1'],
  ]);
  readonly bad = new Set<Id>();

  readAll(): void {
    for (const id of ids) this.readOne(id);
  }

  readOne(id: Id): void {
    if (typeof this.manifest === 'object') this.known[id] = this.manifest[id];
    const entry = this.known[id];
    const file = this.files[id];
    this.bad.delete(id);
    if (entry === 'absent') {
      this.inForce.delete(id);
      return;
    }
    const isGood = typeof file === 'number' && entry !== 'refused' && (typeof entry === 'string' || entry === file);
    if (isGood) this.inForce.set(id, `${file}${entry === 'tagged' ? ' tagged' : ''}`);
    else this.bad.add(id);
    if (file === 'absent' && entry !== 'refused') this.inForce.delete(id);
  }
}

async function describeEngine(engine: ModuleEngine): Promise<object> {
  const tagged = new Set(engine.findByTag('tagged').map(({ definition }) => definition.module_id));
  const inForce: [string, string][] = [];
  for (const id of engine.moduleIds)
    inForce.push([id, `${await askVersion(engine, id)}${tagged.has(id) ? ' tagged' : ''}`]);
  const bad = engine.diagnostics.filter(({ severity }) => severity === 'error').map(({ moduleId }) => moduleId);
  return { inForce: inForce.sort(), bad: [...new Set(bad)].filter((id) => id !== undefined).sort() };
}

/** The modules in force, as a reader of the events knows them. */
class Told {
  readonly inForce = new Set<string>(['a', 'b']);
  readonly lines: string[] = [];
  /** Events that cannot be, after those before. */
  readonly wrong: string[] = [];

  take(event: ModuleEvent): void {
    this.lines.push(describeEvent(event));
    if (event.type === 'manifest-failed') return;
    const { type, moduleId } = event;
    const hasToBeInForce = type === 'module-failed' ? event.isKept : type !== 'module-added';
    if (this.inForce.has(moduleId) !== hasToBeInForce) this.wrong.push(describeEvent(event));
    if (type === 'module-added') this.inForce.add(moduleId);
    if (type === 'module-removed') this.inForce.delete(moduleId);
  }

  count(...types: readonly ModuleEvent['type'][]): number {
    return this.lines.filter((line) => types.some((type) => line.startsWith(type))).length;
  }
}

test('whatever is edited and reloaded: each module that the manifest lists is in force in its last good version, and events and counters add up', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const { engine, source, clock } = await startEngine(moduleFiles(['a', 'b']));
      const watch = await engine.watch();
      const reader = watch[Symbol.asyncIterator]();
      const expected = new Expected();
      const told = new Told();
      const held = startHeld(engine);
      const settle = async (): Promise<void> => {
        while (clock.pending > 0) {
          clock.advance(50);
          // One at a time: when this one is done, that one was.
          await engine.reloadModule('nobody').catch(() => undefined);
        }
        expected.readAll();
      };
      const check = async (): Promise<void> => {
        await settle();
        const inForce = [...expected.inForce].sort();
        expect(await describeEngine(engine)).toEqual({ inForce, bad: [...expected.bad].sort() });
        const { reloaded, failed, skipped, removed, missed } = watch.counters;
        while (told.lines.length < reloaded + failed + skipped + removed) {
          const { value } = await reader.next();
          if (value !== undefined) told.take(value);
        }
        expect(told.wrong).toEqual([]);
        expect([...told.inForce].sort()).toEqual([...engine.moduleIds].sort());
        expect({ reloaded, failed, skipped, removed, missed }).toEqual({
          reloaded: told.count('module-added', 'module-changed'),
          failed: told.count('module-failed', 'manifest-failed'),
          skipped: told.count('module-skipped'),
          removed: told.count('module-removed'),
          missed: 0,
        });
      };
      for (const step of steps) {
        switch (step.type) {
          case 'file': {
            const { id, file } = step;
            expected.files[id] = file;
            if (file === 'absent') source.remove(`${id}.json`);
            else source.write(`${id}.json`, fileText(id, file));
            break;
          }
          case 'manifest': {
            expected.manifest = step.manifest;
            if (step.manifest === 'absent') source.remove('manifest.json');
            else if (step.manifest === 'broken') source.write('manifest.json', '{ "version": ');
            else source.write('manifest.json', toManifestText(step.manifest));
            break;
          }
          case 'reload-one': {
            const isKnown = await engine.reloadModule(step.id).then(
              () => true,
              () => false,
            );
            const wasKnown = expected.known[step.id] !== 'absent';
            expected.readOne(step.id);
            expect(isKnown).toBe(wasKnown || expected.known[step.id] !== 'absent');
            break;
          }
          case 'reload-all':
            await engine.reloadAll();
            expected.readAll();
            break;
          case 'settle':
            await check();
            break;
          case 'ask':
            held.ask();
            break;
          default:
            step satisfies never;
        }
      }
      await check();
      await held.check();
      // Who begins now sees the same, but for what was good before and is no more.
      if (typeof expected.manifest === 'object') {
        const fresh = await createModuleEngine({ source, signatures: [question], model: versionModel() });
        for (const id of fresh.moduleIds) expect(engine.getModule(id)?.hash).toBe(fresh.getModule(id)?.hash);
        for (const id of engine.moduleIds)
          expect(fresh.getModule(id) !== undefined || expected.bad.has(id as Id)).toBe(true);
      }
      watch.close();
    }),
    { numRuns: 300 },
  );
});

/** Runs that begin at some time and are answered at the end. */
function startHeld(engine: ModuleEngine): { ask(): void; check(): Promise<void> } {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const running: { readonly version: Promise<unknown>; readonly wanted: unknown }[] = [];
  return {
    ask() {
      for (const id of ids) {
        const instruction = engine.getModule(id)?.definition.instruction;
        const version = engine
          .invoke(id, { question: 'which?' }, { signature: question, model: versionModel(() => gate) })
          .then(
            ({ output }) => `Version ${output.answer}.`,
            () => undefined,
          );
        running.push({ version, wanted: instruction });
      }
    },
    async check() {
      release();
      for (const { version, wanted } of running) expect(await version).toBe(wanted);
    },
  };
}
