import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Declaration, readExports } from './declarations.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'));
let count = 0;

afterAll(() => rmSync(folder, { recursive: true }));

/** Writes modules by name and reads the last one. */
function read(modules: Readonly<Record<string, string>>): readonly Declaration[] {
  count += 1;
  const names = Object.keys(modules);
  for (const name of names)
    writeFileSync(join(folder, `${count}-${name}.ts`), (modules[name] ?? '').replaceAll('./', `./${count}-`));
  return readExports(join(folder, `${count}-${names.at(-1)}.ts`));
}

test.each([
  [
    'a function without its body',
    'export async function add(a: number): Promise<number> { return a; }',
    'function add(a: number): Promise<number>;',
  ],
  ['a value by its type', 'export const one: number = 1;', 'const one: number;'],
  ['a value that says its own type', 'export const words = [] as const;', 'const words: readonly [];'],
  [
    'an interface as it is',
    'export interface A {\n  /** Why. */\n  readonly b: string;\n}',
    'interface A {\n  /** Why. */\n  readonly b: string;\n}',
  ],
  ['a type as it is', "export type Kind = 'a' | 'b';", 'type Kind = "a" | "b";'],
  [
    'overloads without their implementation',
    'export function f(a: string): string;\nexport function f(a: number): number;\nexport function f(a: unknown): unknown { return a; }',
    'function f(a: string): string;\nfunction f(a: number): number;',
  ],
  [
    'a class without bodies, values and what is private',
    'export class A<T> implements B {\n  readonly #a = 1;\n  readonly b: T = one();\n  private c = 1;\n  /** Why. */\n  get d(): T { return this.b; }\n}',
    'class A<T> implements B {\n  readonly b: T;\n  /** Why. */\n  get d(): T;\n}',
  ],
])('%s', (_, source, signature) => {
  expect(read({ index: source }).map((declaration) => declaration.signature)).toEqual([signature]);
});

test('the docstring right above, without its stars', () => {
  const [first, second] = read({
    index:
      '/** Far away. */\n\nconst x = 1;\n/**\n * One.\n *\n * Two.\n */\nexport const a: number = x;\nexport const b: number = x;\n',
  });
  expect(first?.documentation).toBe('One.\n\nTwo.');
  expect(second?.documentation).toBe('');
});

test('a declaration of another package', () => {
  const exports = read({ index: "export type { Section } from '@holdfast/core';" });
  expect(exports).toMatchObject([
    { name: 'Section', isType: true, signature: expect.stringMatching(/^interface Section/) },
  ]);
});

test('a declaration of another file; a class exported as a type is a type', () => {
  const exports = read({
    inner: 'export class A {}\nexport const b: 1 = 1;\nexport const hidden: 1 = 1;',
    index: "export { type A, b } from './inner.ts';",
  });
  expect(exports.map(({ name, isType }) => ({ name, isType }))).toEqual([
    { name: 'A', isType: true },
    { name: 'b', isType: false },
  ]);
});

test('an unknown name', () => {
  expect(() => read({ inner: '', index: "export { a } from './inner.ts';" })).toThrow('does not export `a`');
});
