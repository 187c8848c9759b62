import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findWideRoots } from './roots.ts';

function withRoot(name: string, count: number): Record<string, string> {
  const source = Array.from({ length: count }, (_, index) => `export type T${index} = ${index};\n`).join('');
  return soundPackage(name, {}, source);
}

test('reports a root with too many names; that of core may have more', () => {
  expect(findWideRoots(fixture({ ...withRoot('core', 84), ...withRoot('policy', 38) }))).toEqual([]);
  expect(findWideRoots(fixture({ ...withRoot('core', 85), ...withRoot('policy', 39) }))).toEqual([
    '`@holdfast/core` exports 85 names, more than 84; move rare ones to a subpath',
    '`@holdfast/policy` exports 39 names, more than 38; move rare ones to a subpath',
  ]);
});

test('reports too many names of all roots but those of core and the kit', () => {
  const packages = (count: number): Record<string, string> =>
    Object.assign({}, ...Array.from({ length: count }, (_, index) => withRoot(`p${index}`, 35)));
  expect(findWideRoots(fixture({ ...packages(10), ...withRoot('kit', 90) }))).toEqual([]);
  expect(findWideRoots(fixture(packages(11)))).toEqual(['the roots export 385 names together, more than 350']);
});
