import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findKeepers } from './memory.ts';

function find(text: string): readonly string[] {
  return findKeepers(fixture({ ...soundPackage('core'), 'packages/core/src/a.ts': text }));
}

test('reports a getter in an object that a function creates, with its line', () => {
  expect(find('export const f = (list: number[]) => ({\n  get size() {\n    return list.length;\n  },\n});\n')).toEqual(
    ['packages/core/src/a.ts:2: a getter in an object that is created repeatedly; use a class'],
  );
});

test('reports a WeakMap keyed by session', () => {
  expect(find('export const all = new WeakMap<Session, string>();\n')).toEqual([
    'packages/core/src/a.ts:1: a WeakMap keyed by session; keep it on the session with `keptBeside`',
  ]);
});

test('accepts classes, objects that are created once, and other maps', () => {
  const text = [
    'export const once = { get now(): number { return 1; } };',
    'export class A { get b(): number { return 1; } }',
    'export const tools = new WeakMap<object, string>();',
  ];
  expect(find(text.join('\n'))).toEqual([]);
});
