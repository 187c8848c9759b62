import { expect, test } from 'vitest';
import type { ModuleDefinition } from './definition.ts';
import { parseManifest, toPendingPath } from './manifest.ts';
import { parseModule, stringifyModule } from './module-file.ts';
import { fullModule, reactModule } from './test-files.ts';

function problemsOf(value: object): readonly string[] {
  const parsing = parseModule(JSON.stringify(value));
  return parsing.type === 'invalid' ? parsing.problems.map(({ place }) => place) : [];
}

test('names have 1 to 200 characters', () => {
  for (const name of ['x', 'x'.repeat(200)]) expect(problemsOf({ ...fullModule, signature_name: name })).toEqual([]);
  for (const name of ['', 'x'.repeat(201)])
    expect(problemsOf({ ...fullModule, signature_name: name })).toEqual(['signature_name']);
});

test('a very long list of problems is cut', () => {
  const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`key${index}`, 1]));
  expect(problemsOf({ ...fullModule, ...unknown })).toHaveLength(50);
});

test('null means an absent key, also in `extract` and in fields', () => {
  const extract = { instruction: null, descriptions: null };
  expect(problemsOf({ ...reactModule, extract })).toEqual([]);
  const parsing = parseModule(JSON.stringify({ ...reactModule, extract }));
  expect(parsing).toMatchObject({ type: 'module', definition: { extract: {} } });
  expect(parsing.type === 'module' && Object.keys(parsing.definition.extract ?? {})).toEqual([]);
});

test('keys are written in a fixed, readable order', () => {
  const turned = Object.fromEntries(Object.entries(fullModule).toReversed()) as unknown as ModuleDefinition;
  expect(Object.keys(turned)[0]).not.toBe('module_id');
  expect(stringifyModule(turned)).toBe(stringifyModule(fullModule));
  expect(Object.keys(JSON.parse(stringifyModule(turned)))[0]).toBe('module_id');
});

test('manifest entries are frozen, and a pending file is named by its digest', () => {
  const parsing = parseManifest('{"version":"1.0","modules":{"a":{"path":"a.json","tags":["b"]}}}');
  const entry = parsing.type === 'manifest' ? parsing.entries.get('a') : undefined;
  for (const part of [entry, entry?.tags]) expect(Object.isFrozen(part)).toBe(true);
  expect(toPendingPath(`sha256:${'ab'.repeat(32)}`)).toBe(`.holdfast/${'ab'.repeat(32)}.json`);
});
