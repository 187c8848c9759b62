import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { defineSignature } from '../signature/signature.ts';
import { toSignatureMap } from './load-module.ts';
import { hashText, manifestPath } from './manifest.ts';
import { emptyShelf, type ModuleChange, type ModuleShelf, readChange, type ShelfReading } from './shelf.ts';
import { type ModuleSource, memoryModules } from './source.ts';

const fields = (name: string) =>
  jsonSchema<Record<string, string>>({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
const signatures = toSignatureMap([
  defineSignature({ name: 'question', inputSchema: fields('question'), outputSchema: fields('answer') }),
]);

const moduleText = (id: string, version: number, more: object = {}): string =>
  JSON.stringify({
    module_id: id,
    predictor_type: 'predict',
    signature_name: 'question',
    instruction: `Version ${version}.`,
    demos: [],
    tool_enabled: false,
    metadata: { version: '1.0.0' },
    ...more,
  });
const manifestText = (modules: Readonly<Record<string, object>>): string => JSON.stringify({ version: '1.0', modules });
const both = { a: { path: 'a.json' }, b: { path: 'b.json' } };
const twoModules = {
  'a.json': moduleText('a', 1),
  'b.json': moduleText('b', 1),
  [manifestPath]: manifestText(both),
};

const files = (...paths: readonly string[]): ModuleChange => ({ type: 'files', paths: new Set(paths) });

function describe({ shelf, events, doubted }: ShelfReading): object {
  return {
    events: events.map((event) => {
      const id = 'moduleId' in event ? ` ${event.moduleId}` : '';
      const codes = 'diagnostics' in event ? ` ${event.diagnostics.map(({ code }) => code).join()}` : '';
      return `${event.type}${id}${codes}${'isKept' in event && event.isKept ? ' (kept)' : ''}`;
    }),
    inForce: inForce(shelf),
    problems: [...shelf.ofManifest, ...[...shelf.ofModules.values()].flat()].map(({ code }) => code),
    ...(doubted.length === 0 ? {} : { doubted }),
  };
}

function inForce({ modules }: ModuleShelf): readonly string[] {
  return [...modules].map(([id, { definition, tags }]) =>
    [id, definition.instruction?.replace(/\D/g, ''), ...tags].join(' '),
  );
}

interface Case {
  readonly name: string;
  /** Default: two modules, each of version 1. */
  readonly from?: Readonly<Record<string, string>>;
  /** `null` removes. */
  readonly edit?: Readonly<Record<string, string | null>>;
  readonly change: ModuleChange;
  readonly isGone?: (path: string) => boolean;
  readonly events: readonly string[];
  /** Default: as it was. */
  readonly inForce?: readonly string[];
  readonly problems?: readonly string[];
  readonly doubted?: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'a file that is as it was is skipped', change: files('a.json'), events: ['module-skipped a'] },
  {
    name: 'a file of no module is no news',
    edit: { 'c.json': moduleText('c', 1) },
    change: files('c.json', 'a.json.tmp'),
    events: [],
  },
  {
    name: 'only what is told to have changed is read',
    edit: { 'a.json': moduleText('a', 2), 'b.json': moduleText('b', 2) },
    change: files('b.json'),
    events: ['module-changed b'],
    inForce: ['a 1', 'b 2'],
  },
  {
    name: 'a broken file keeps its module',
    edit: { 'a.json': '{' },
    change: files('a.json'),
    events: ['module-failed a modules.file_invalid (kept)'],
    problems: ['modules.file_invalid'],
  },
  {
    name: 'an empty file, as of an editor that has only begun to write',
    edit: { 'a.json': '' },
    change: files('a.json'),
    events: ['module-failed a modules.file_invalid (kept)'],
    problems: ['modules.file_invalid'],
  },
  {
    name: 'a broken file that was mended as it was is a change',
    from: { ...twoModules, 'a.json': '{' },
    edit: { 'a.json': moduleText('a', 1) },
    change: files('a.json'),
    events: ['module-added a'],
    inForce: ['a 1', 'b 1'],
  },
  {
    name: 'a file that is gone takes its module along',
    edit: { 'a.json': null },
    change: files('a.json'),
    events: ['module-removed a'],
    inForce: ['b 1'],
    problems: ['modules.file_missing'],
  },
  {
    name: 'a file that may come back leaves everything as it is',
    edit: { 'a.json': null },
    change: files('a.json'),
    isGone: () => false,
    events: [],
    doubted: ['a.json'],
  },
  {
    name: 'a file that was never there fails each time',
    from: { [manifestPath]: manifestText(both), 'b.json': moduleText('b', 1) },
    change: files('a.json'),
    isGone: () => false,
    events: ['module-failed a modules.file_missing'],
    inForce: ['b 1'],
    problems: ['modules.file_missing'],
  },
  {
    name: 'a file that the manifest newly lists',
    edit: { 'c.json': moduleText('c', 1), [manifestPath]: manifestText({ c: { path: 'c.json' }, ...both }) },
    change: files(manifestPath),
    events: ['module-added c'],
    inForce: ['c 1', 'a 1', 'b 1'],
  },
  {
    name: 'a module that the manifest lists no more',
    edit: { [manifestPath]: manifestText({ b: { path: 'b.json' } }) },
    change: files(manifestPath, 'a.json'),
    events: ['module-removed a'],
    inForce: ['b 1'],
  },
  {
    name: 'a manifest that is broken changes nothing, and what is told beside it is read',
    edit: { [manifestPath]: '{', 'b.json': moduleText('b', 2) },
    change: files(manifestPath, 'b.json'),
    events: ['manifest-failed modules.manifest_invalid', 'module-changed b'],
    inForce: ['a 1', 'b 2'],
    problems: ['modules.manifest_invalid'],
  },
  {
    name: 'a manifest that is gone changes nothing',
    edit: { [manifestPath]: null },
    change: { type: 'all' },
    events: ['manifest-failed modules.manifest_missing', 'module-skipped a', 'module-skipped b'],
    problems: ['modules.manifest_missing'],
  },
  {
    name: 'an entry that is no good keeps its module, and the others go on',
    edit: {
      [manifestPath]: manifestText({ a: { path: '../a.json' }, b: { path: 'b.json', tags: ['x'] } }),
    },
    change: files(manifestPath),
    events: ['module-failed a modules.path_refused (kept)', 'module-changed b'],
    inForce: ['b 1 x', 'a 1'],
    problems: ['modules.path_refused'],
  },
  {
    name: 'an edit of the manifest reads a module again that had failed',
    from: { ...twoModules, 'a.json': '{' },
    edit: { [manifestPath]: manifestText({ ...both, b: { path: 'b.json', tags: ['x'] } }) },
    change: files(manifestPath),
    events: ['module-failed a modules.file_invalid', 'module-changed b'],
    inForce: ['b 1 x'],
    problems: ['modules.file_invalid'],
  },
  {
    name: 'a hash that does not fit keeps the module',
    edit: { [manifestPath]: manifestText({ ...both, a: { path: 'a.json', hash: '0'.repeat(64) } }) },
    change: files(manifestPath),
    events: ['module-failed a modules.hash_mismatch (kept)'],
    problems: ['modules.hash_mismatch'],
  },
  {
    name: 'two modules that exchange their files',
    edit: {
      [manifestPath]: manifestText({ a: { path: 'b.json' }, b: { path: 'a.json' } }),
      'a.json': moduleText('b', 3),
      'b.json': moduleText('a', 3),
    },
    change: files(manifestPath, 'a.json', 'b.json'),
    events: ['module-changed a', 'module-changed b'],
    inForce: ['a 3', 'b 3'],
  },
  {
    name: 'one file that two entries name is read for both',
    from: { ...twoModules, [manifestPath]: manifestText({ ...both, c: { path: 'b.json' } }) },
    edit: { 'b.json': moduleText('b', 2) },
    change: files('b.json'),
    events: ['module-changed b', 'module-failed c modules.id_mismatch'],
    inForce: ['a 1', 'b 2'],
    problems: ['modules.id_mismatch'],
  },
  {
    name: 'one module: the others, and what the manifest says of them, stay as they are',
    edit: {
      'a.json': moduleText('a', 2),
      'b.json': moduleText('b', 2),
      [manifestPath]: manifestText({ a: { path: 'a.json', tags: ['x'] }, c: { path: 'c.json' } }),
    },
    change: { type: 'module', moduleId: 'a' },
    events: ['module-changed a'],
    inForce: ['a 2 x', 'b 1'],
  },
  {
    name: 'one module that the manifest lists no more',
    edit: { [manifestPath]: manifestText({ b: { path: 'b.json' } }) },
    change: { type: 'module', moduleId: 'a' },
    events: ['module-removed a'],
    inForce: ['b 1'],
  },
  {
    name: 'one module whose entry is no good',
    edit: { [manifestPath]: manifestText({ a: { path: 'a.json', hash: 1 }, b: {} }) },
    change: { type: 'module', moduleId: 'a' },
    events: ['module-failed a modules.manifest_invalid (kept)'],
    inForce: ['a 1', 'b 1'],
    problems: ['modules.manifest_invalid'],
  },
  {
    name: 'one module that nobody knows',
    change: { type: 'module', moduleId: 'c' },
    events: [],
  },
];

test.each(cases)('$name', async ({ from = twoModules, edit = {}, change, isGone, ...expected }) => {
  const source = memoryModules(from);
  const { shelf: before } = await readChange(emptyShelf, { type: 'all' }, { source, signatures });
  for (const [path, text] of Object.entries(edit)) {
    if (text === null) source.remove(path);
    else source.write(path, text);
  }
  const reading = await readChange(before, change, { source, signatures, ...(isGone ? { isGone } : {}) });
  expect({ name: expected.name, ...describe(reading) }).toEqual({
    inForce: inForce(before),
    problems: [],
    ...expected,
  });
});

test('what the manifest refused and then takes up, and a warning, are told of and gone again', async () => {
  const declared = (field_type: string): string =>
    moduleText('a', 1, {
      signature: { inputs: [{ name: 'question', field_type }], outputs: [{ name: 'answer' }] },
    });
  const source = memoryModules({ ...twoModules, [manifestPath]: manifestText({ a: {} }), 'a.json': declared('poem') });
  const at = { source, signatures };
  const first = await readChange(emptyShelf, { type: 'all' }, at);
  source.write(manifestPath, manifestText({ a: { path: 'a.json' } }));
  const second = await readChange(first.shelf, files(manifestPath), at);
  source.write('a.json', declared('string'));
  const third = await readChange(second.shelf, files('a.json'), at);
  expect([first, second, third].map(describe)).toEqual([
    { events: ['module-failed a modules.manifest_invalid'], inForce: [], problems: ['modules.manifest_invalid'] },
    { events: ['module-added a'], inForce: ['a 1'], problems: ['modules.field_type_unknown'] },
    { events: ['module-changed a'], inForce: ['a 1'], problems: [] },
  ]);
});

test('a save that is under way is read again until it fits, and not for ever', async () => {
  const inner = memoryModules(twoModules);
  let reads = 0;
  const restless: ModuleSource = {
    name: 'restless',
    read(path) {
      if (path === manifestPath) reads += 1;
      // Another hash each time: no file ever fits.
      const hash = reads.toString(16).padStart(64, '0');
      return path === manifestPath
        ? Promise.resolve(
            manifestText({ a: { path: 'a.json', hash }, b: { path: 'b.json', hash: reads < 3 ? hash : null } }),
          )
        : inner.read(path);
    },
  };
  const reading = await readChange(emptyShelf, { type: 'all' }, { source: restless, signatures });
  expect(describe(reading)).toMatchObject({ inForce: ['b 1'], problems: ['modules.hash_mismatch'] });
  expect(reads).toBeLessThan(250);
});

test('beside somebody who saves one module all the time: it is read again, and another one where it was saved, too', async () => {
  const versions = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const text = moduleText('a', index);
      return { text, hash: await hashText(text) };
    }),
  );
  const texts = [moduleText('b', 1), moduleText('b', 2)] as const;
  const hashes = await Promise.all(texts.map(hashText));
  let saves = 0;
  const reads: string[] = [];
  const busy: ModuleSource = {
    name: 'busy',
    read(path) {
      reads.push(path);
      const pinned = versions[Math.min(saves, versions.length - 1)];
      if (path === 'b.json') return Promise.resolve(texts[saves < 30 ? 0 : 1]);
      if (path === 'a.json') return Promise.resolve(pinned?.text);
      // Whoever has the manifest comes too late for what it pins.
      saves += 1;
      const b = { path: 'b.json', hash: hashes[saves < 30 ? 0 : 1] };
      return Promise.resolve(manifestText({ a: { path: 'a.json', hash: pinned?.hash }, b }));
    },
  };
  const reading = await readChange(emptyShelf, { type: 'all' }, { source: busy, signatures });
  expect(describe(reading)).toMatchObject({ inForce: ['a 59', 'b 2'], problems: [] });
  expect(reads.filter((path) => path === 'b.json')).toHaveLength(2);
});

test('a source that throws costs what it does not give', async () => {
  const inner = memoryModules(twoModules);
  const { shelf } = await readChange(emptyShelf, { type: 'all' }, { source: inner, signatures });
  const throwing: ModuleSource = { name: 'throwing', read: () => Promise.reject(new Error('no disk')) };
  const reading = await readChange(shelf, { type: 'all' }, { source: throwing, signatures });
  expect(describe(reading)).toMatchObject({
    events: [
      'manifest-failed modules.unreadable',
      'module-failed a modules.unreadable (kept)',
      'module-failed b modules.unreadable (kept)',
    ],
    inForce: ['a 1', 'b 1'],
  });
});
