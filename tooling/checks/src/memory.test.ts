import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findKeepers } from './memory.ts';

function find(text: string): readonly string[] {
  return findKeepers(fixture({ ...soundPackage('core'), 'packages/core/src/a.ts': text }));
}

test('a getter in an object that a function makes is named, with its line', () => {
  expect(find('export const f = (list: number[]) => ({\n  get size() {\n    return list.length;\n  },\n});\n')).toEqual(
    ['packages/core/src/a.ts:2: a getter in an object that is made again and again; make it a class'],
  );
});

test('a map by session is named', () => {
  expect(find('export const all = new WeakMap<Session, string>();\n')).toEqual([
    'packages/core/src/a.ts:1: a WeakMap by session; keep it on the session with `keptBeside`',
  ]);
});

test('classes, objects that are made once and other maps pass', () => {
  const text = [
    'export const once = { get now(): number { return 1; } };',
    'export class A { get b(): number { return 1; } }',
    'export const tools = new WeakMap<object, string>();',
  ];
  expect(find(text.join('\n'))).toEqual([]);
});
