import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findEntryFile } from './package-manifest.ts';

const folder = '/somewhere/node_modules/git';
const entryOf = (exports: unknown): string | undefined =>
  findEntryFile({
    folder,
    exports,
    version: undefined,
    description: undefined,
    holdfast: undefined,
    coreRange: undefined,
  });

test.each([
  ['a path', './a.js', 'a.js'],
  ['a path within a folder', './lib/./a.js', 'lib/a.js'],
  ['a root', { '.': './a.js', './b': './b.js' }, 'a.js'],
  ['conditions', { browser: './b.js', node: './a.js', default: './c.js' }, 'a.js'],
  ['the first that is met', { default: './a.js', import: './b.js' }, 'a.js'],
  ['conditions within conditions', { '.': { node: { require: './r.js', import: './a.js' } } }, 'a.js'],
  ['a condition with nothing in it', { node: { require: './r.js' }, default: './a.js' }, 'a.js'],
  ['a list', ['other:a', './a.js'], undefined],
  ['a list of conditions', [{ require: './r.js' }, './a.js'], 'a.js'],
])('exports that are %s', (_, exports, file) => {
  expect(entryOf(exports)).toBe(file === undefined ? undefined : `${folder}/${file}`);
});

test.each(['a.js', '/etc/a.js', '../a.js', './../a.js', './lib/../../a.js', 'file:///a.js', '', '#a'])(
  'the target `%s` is invalid',
  (target) => {
    expect(entryOf(target)).toBeUndefined();
    expect(entryOf({ '.': { import: target } })).toBeUndefined();
  },
);

test('property: the entry is a file of the package, or undefined', () => {
  const target = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '%') }).map((text) => `./${text}`),
  );
  const { exports } = fc.letrec((tie) => ({
    exports: fc.oneof(
      { maxDepth: 6 },
      target,
      fc.jsonValue(),
      fc.array(tie('exports'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('.', './a', 'node', 'import', 'require', 'default', '__proto__'), tie('exports'), {
        maxKeys: 3,
      }),
    ),
  }));
  fc.assert(
    fc.property(
      exports.filter((value) => value !== null),
      (value) => {
        const file = entryOf(value);
        expect(file === undefined || file === folder || file.startsWith(`${folder}/`)).toBe(true);
      },
    ),
  );
});

test('endlessly nested exports are ignored', () => {
  const deep: unknown = JSON.parse(`${'{"import":'.repeat(100_000)}"./a.js"${'}'.repeat(100_000)}`);
  expect(entryOf(deep)).toBeUndefined();
  const wide: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(entryOf(wide)).toBeUndefined();
});
