import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEntryName } from './names.ts';

const exportName = undefined;

test.each([
  ['holdfast-git', { type: 'package', name: 'holdfast-git', exportName }],
  ['@acme/holdfast-git', { type: 'package', name: '@acme/holdfast-git', exportName }],
  ['@acme/holdfast-git#gitPlugin', { type: 'package', name: '@acme/holdfast-git', exportName: 'gitPlugin' }],
  ['a#default', { type: 'package', name: 'a', exportName: 'default' }],
  ['./git.ts', { type: 'path', path: './git.ts', exportName }],
  ['../shared/git.ts#git', { type: 'path', path: '../shared/git.ts', exportName: 'git' }],
  ['./with space/git.ts', { type: 'path', path: './with space/git.ts', exportName }],
  ['git/git-safety', { type: 'offered', plugin: 'git', pack: 'git-safety' }],
])('`%s`', (text, name) => {
  expect(readEntryName(text)).toEqual(name);
});

test.each([
  '',
  ' ',
  '#git',
  'git#',
  'git#a b',
  'git#a#b',
  '/etc/git.ts',
  'C:\\git.ts',
  'file:///git.ts',
  'https://example.com/git.js',
  'data:text/javascript,1',
  'node:fs',
  '..',
  '.',
  '.git',
  'Git',
  '@acme',
  '@acme/',
  '@acme/git/deep',
  '@/git',
  'git/safety#pack',
  'a/b/c',
  'a'.repeat(215),
  `@acme/${'a'.repeat(300)}`,
])('`%s` is not a valid name', (text) => {
  expect(readEntryName(text)).toBeUndefined();
});

test('property: any text is parsed quickly, and valid names round-trip', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('.', '/', '#', '@', 'a', '-', ' ') }));
  fc.assert(
    fc.property(text, (written) => {
      const name = readEntryName(written);
      if (name === undefined) return;
      if (name.type === 'offered') expect(`${name.plugin}/${name.pack}`).toBe(written);
      else {
        const start = name.type === 'path' ? name.path : name.name;
        expect(name.exportName === undefined ? start : `${start}#${name.exportName}`).toBe(written);
      }
    }),
  );
});
