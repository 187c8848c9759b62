import type { HoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePath } from './paths.ts';

test.each([
  ['a', 'a'],
  ['./a', 'a'],
  ['/a', 'a'],
  ['a/', 'a'],
  ['a//b', 'a/b'],
  ['//srv/share', 'srv/share'],
  ['a/./b', 'a/b'],
  ['a/../b', 'b'],
  ['a/b/../../c', 'c'],
  ['', ''],
  ['.', ''],
  ['/', ''],
  ['a/..', ''],
  ['%2e%2e/x', '%2e%2e/x'],
  ['cafe\u0301', 'caf\u00e9'],
  ['.hidden/..a/a..b', '.hidden/..a/a..b'],
  ['a/~b', 'a/~b'],
  ['~$report.docx', '~$report.docx'],
  ['a b/ c', 'a b/ c'],
  ['x'.repeat(255), 'x'.repeat(255)],
])('%j has the key %j', (path, key) => {
  expect(parsePath(path)).toBe(key);
});

test.each([
  ['path.invalid: escape', '..'],
  ['path.invalid: escape', '../x'],
  ['path.invalid: escape', '/../x'],
  ['path.invalid: escape', 'a/../../x'],
  ['path.invalid: escape', 'a/../../a'],
  ['path.invalid: escape', 'C:\\x'],
  ['path.invalid: escape', 'c:/x'],
  ['path.invalid: escape', '/C:/x'],
  ['path.invalid: escape', 'a/../C:'],
  ['path.invalid: escape', '\\\\srv\\x'],
  ['path.invalid: escape', '~'],
  ['path.invalid: escape', '~/.ssh'],
  ['path.invalid: escape', './~root/x'],
  ['path.invalid: escape', 'file:///x'],
  ['path.invalid: escape', 'FILE:x'],
  ['path.invalid', 'a\\b'],
  ['path.invalid', '..\\x'],
  ['path.invalid', 'a\0b'],
  ['path.invalid', 'a\nb'],
  ['path.invalid', 'a\u007f'],
  ['path.invalid', 'a\u0085'],
  ['path.invalid', 'a\u2028b'],
  ['path.invalid', 'a\u202etxt.exe'],
  ['path.invalid', '\ud800'],
  ['path.invalid', 'a '],
  ['path.invalid', 'a /b'],
  ['path.invalid', 'a.'],
  ['path.invalid', '...'],
  ['path.invalid', `a/${'x'.repeat(256)}`],
  ['path.invalid', '\u00e9'.repeat(128)],
  ['path.invalid', 'a/'.repeat(2100)],
  ['path.invalid', JSON.parse('null')],
  ['path.invalid', JSON.parse('["a"]')],
])('%s: %j', (code, path) => {
  expect(() => parsePath(path)).toThrow(expect.toSatisfy((error: HoldfastError) => describeCode(error) === code));
});

test('a message shows a hostile path on one line and in bounded length', () => {
  expect(() => parsePath(`../\u001b[31m\n${'x'.repeat(1000)}`)).toThrow(/^[\p{L}\p{N}\p{P}\p{S} ]{1,500}$/u);
});

const spelling = fc.array(fc.constantFrom('a', 'b', '..', '.', '', '...', 'c:', '~', '\\', 'e\u0301', 'x ', '\0'), {
  maxLength: 8,
});

test('a key is its own key, and has no empty, `.` or `..` name in it', () => {
  fc.assert(
    fc.property(
      spelling.map((names) => names.join('/')),
      (path) => {
        let key: string;
        try {
          key = parsePath(path);
        } catch {
          return;
        }
        expect(parsePath(key)).toBe(key);
        expect(key === '' || key.split('/').every((name) => !['', '.', '..'].includes(name))).toBe(true);
      },
    ),
  );
});
