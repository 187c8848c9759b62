import { describeCode } from '@holdfast/core/internal';
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
      const codes = 'diagnostics' in event ? ` ${event.diagnostics.map(describeCode).join()}` : '';
      return `${event.type}${id}${codes}${'isKept' in event && event.isKept ? ' (kept)' : ''}`;
    }),
    inForce: inForce(shelf),
    problems: [...shelf.ofManifest, ...[...shelf.ofModules.values()].flat()].map(describeCode),
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
  /** Default: two modules, both version 1. */
  readonly from?: Readonly<Record<string, string>>;
  /** `null` removes. */
  readonly edit?: Readonly<Record<string, string | null>>;
  readonly change: ModuleChange;
  readonly isGone?: (path: string) => boolean;
  readonly events: readonly string[];
  /** Default: unchanged. */
  readonly inForce?: readonly string[];
  readonly problems?: readonly string[];
  readonly doubted?: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'an unchanged file is skipped', change: files('a.json'), events: ['module-skipped a'] },
  {
    name: 'a file without a module is ignored',
    edit: { 'c.json': moduleText('c', 1) },
    change: files('c.json', 'a.json.tmp'),
    events: [],
  },
  {
    name: 'only reported changes are read',
    edit: { 'a.json': moduleText('a', 2), 'b.json': moduleText('b', 2) },
    change: files('b.json'),
    events: ['module-changed b'],
    inForce: ['a 1', 'b 2'],
  },
  {
    name: 'a broken file keeps its module',
    edit: { 'a.json': '{' },
    change: files('a.json'),
    events: ['module-failed a modules.invalid: file (kept)'],
    problems: ['modules.invalid: file'],
  },
  {
    name: 'an empty file, as when an editor starts writing',
    edit: { 'a.json': '' },
    change: files('a.json'),
    events: ['module-failed a modules.invalid: file (kept)'],
    problems: ['modules.invalid: file'],
  },
  {
    name: 'repairing a broken file is a change',
    from: { ...twoModules, 'a.json': '{' },
    edit: { 'a.json': moduleText('a', 1) },
    change: files('a.json'),
    events: ['module-added a'],
    inForce: ['a 1', 'b 1'],
  },
  {
    name: 'deleting a file removes its module',
    edit: { 'a.json': null },
    change: files('a.json'),
    events: ['module-removed a'],
    inForce: ['b 1'],
    problems: ['modules.invalid: file_missing'],
  },
  {
    name: 'a file that may come back changes nothing',
    edit: { 'a.json': null },
    change: files('a.json'),
    isGone: () => false,
    events: [],
    doubted: ['a.json'],
  },
  {
    name: 'a file that never existed fails each time',
    from: { [manifestPath]: manifestText(both), 'b.json': moduleText('b', 1) },
    change: files('a.json'),
    isGone: () => false,
    events: ['module-failed a modules.invalid: file_missing'],
    inForce: ['b 1'],
    problems: ['modules.invalid: file_missing'],
  },
  {
    name: 'a file that the manifest newly lists',
    edit: { 'c.json': moduleText('c', 1), [manifestPath]: manifestText({ c: { path: 'c.json' }, ...both }) },
    change: files(manifestPath),
    events: ['module-added c'],
    inForce: ['c 1', 'a 1', 'b 1'],
  },
  {
    name: 'a module that is no longer in the manifest',
    edit: { [manifestPath]: manifestText({ b: { path: 'b.json' } }) },
    change: files(manifestPath, 'a.json'),
    events: ['module-removed a'],
    inForce: ['b 1'],
  },
  {
    name: 'a broken manifest changes nothing, and other reported files are read',
    edit: { [manifestPath]: '{', 'b.json': moduleText('b', 2) },
    change: files(manifestPath, 'b.json'),
    events: ['manifest-failed modules.invalid: manifest', 'module-changed b'],
    inForce: ['a 1', 'b 2'],
    problems: ['modules.invalid: manifest'],
  },
  {
    name: 'a missing manifest changes nothing',
    edit: { [manifestPath]: null },
    change: { type: 'all' },
    events: ['manifest-failed modules.invalid: manifest_missing', 'module-skipped a', 'module-skipped b'],
    problems: ['modules.invalid: manifest_missing'],
  },
  {
    name: 'an invalid entry keeps its module, and the others are updated',
    edit: {
      [manifestPath]: manifestText({ a: { path: '../a.json' }, b: { path: 'b.json', tags: ['x'] } }),
    },
    change: files(manifestPath),
    events: ['module-failed a modules.invalid: path (kept)', 'module-changed b'],
    inForce: ['b 1 x', 'a 1'],
    problems: ['modules.invalid: path'],
  },
  {
    name: 'a change of the manifest reloads a failed module',
    from: { ...twoModules, 'a.json': '{' },
    edit: { [manifestPath]: manifestText({ ...both, b: { path: 'b.json', tags: ['x'] } }) },
    change: files(manifestPath),
    events: ['module-failed a modules.invalid: file', 'module-changed b'],
    inForce: ['b 1 x'],
    problems: ['modules.invalid: file'],
  },
  {
    name: 'a wrong hash keeps the module',
    edit: { [manifestPath]: manifestText({ ...both, a: { path: 'a.json', hash: '0'.repeat(64) } }) },
    change: files(manifestPath),
    events: ['module-failed a modules.invalid: hash_mismatch (kept)'],
    problems: ['modules.invalid: hash_mismatch'],
  },
  {
    name: 'two modules that swap their files',
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
    name: 'a file of two entries is read for both',
    from: { ...twoModules, [manifestPath]: manifestText({ ...both, c: { path: 'b.json' } }) },
    edit: { 'b.json': moduleText('b', 2) },
    change: files('b.json'),
    events: ['module-changed b', 'module-failed c modules.invalid: id_mismatch'],
    inForce: ['a 1', 'b 2'],
    problems: ['modules.invalid: id_mismatch'],
  },
  {
    name: 'reloading one module leaves the others and their entries unchanged',
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
    name: 'one module that is no longer in the manifest',
    edit: { [manifestPath]: manifestText({ b: { path: 'b.json' } }) },
    change: { type: 'module', moduleId: 'a' },
    events: ['module-removed a'],
    inForce: ['b 1'],
  },
  {
    name: 'one module with an invalid entry',
    edit: { [manifestPath]: manifestText({ a: { path: 'a.json', hash: 1 }, b: {} }) },
    change: { type: 'module', moduleId: 'a' },
    events: ['module-failed a modules.invalid: manifest (kept)'],
    inForce: ['a 1', 'b 1'],
    problems: ['modules.invalid: manifest'],
  },
  {
    name: 'one unknown module',
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

test('a repaired entry, and a warning, appear and disappear', async () => {
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
    { events: ['module-failed a modules.invalid: manifest'], inForce: [], problems: ['modules.invalid: manifest'] },
    { events: ['module-added a'], inForce: ['a 1'], problems: ['modules.invalid: field_type_unknown'] },
    { events: ['module-changed a'], inForce: ['a 1'], problems: [] },
  ]);
});

test('a save in progress is read again until it matches, but not forever', async () => {
  const inner = memoryModules(twoModules);
  let reads = 0;
  const restless: ModuleSource = {
    name: 'restless',
    read(path) {
      if (path === manifestPath) reads += 1;
      // A different hash each time, so no file ever matches.
      const hash = reads.toString(16).padStart(64, '0');
      return path === manifestPath
        ? Promise.resolve(
            manifestText({ a: { path: 'a.json', hash }, b: { path: 'b.json', hash: reads < 3 ? hash : null } }),
          )
        : inner.read(path);
    },
  };
  const reading = await readChange(emptyShelf, { type: 'all' }, { source: restless, signatures });
  expect(describe(reading)).toMatchObject({ inForce: ['b 1'], problems: ['modules.invalid: hash_mismatch'] });
  expect(reads).toBeLessThan(250);
});

test('with constant saves of one module, both it and another saved module are reloaded', async () => {
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
      // The pinned file is gone by the time the manifest is read.
      saves += 1;
      const b = { path: 'b.json', hash: hashes[saves < 30 ? 0 : 1] };
      return Promise.resolve(manifestText({ a: { path: 'a.json', hash: pinned?.hash }, b }));
    },
  };
  const reading = await readChange(emptyShelf, { type: 'all' }, { source: busy, signatures });
  expect(describe(reading)).toMatchObject({ inForce: ['a 59', 'b 2'], problems: [] });
  expect(reads.filter((path) => path === 'b.json')).toHaveLength(2);
});

test('a failing source affects only the files that it does not return', async () => {
  const inner = memoryModules(twoModules);
  const { shelf } = await readChange(emptyShelf, { type: 'all' }, { source: inner, signatures });
  const throwing: ModuleSource = { name: 'throwing', read: () => Promise.reject(new Error('no disk')) };
  const reading = await readChange(shelf, { type: 'all' }, { source: throwing, signatures });
  expect(describe(reading)).toMatchObject({
    events: [
      'manifest-failed modules.invalid: unreadable',
      'module-failed a modules.invalid: unreadable (kept)',
      'module-failed b modules.invalid: unreadable (kept)',
    ],
    inForce: ['a 1', 'b 1'],
  });
});
