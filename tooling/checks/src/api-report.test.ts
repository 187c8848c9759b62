import { expect, test } from 'vitest';
import { apiFolder, describeApis } from './api-report.ts';
import { fixture, soundPackage } from './fixture.ts';

function describe(files: Readonly<Record<string, string>>): string {
  const sources = Object.fromEntries(Object.entries(files).map(([name, text]) => [`packages/core/src/${name}`, text]));
  return describeApis(fixture({ ...soundPackage('core'), ...sources })).get(`${apiFolder}/core.md`) ?? '';
}

test('an export has its signature and the first sentence of its docstring, without its body', () => {
  const report = describe({
    'index.ts': "export { type A, f } from './a.ts';\n",
    'a.ts': `/**
 * The input,
 * all of it. And more.
 */
export interface A {
  /** Of the member. */
  readonly x: number;
}

export function f(a: A): number {
  return a.x; // not shown
}
`,
  });
  expect(report.slice(report.indexOf('##'))).toBe(`## @holdfast/core

**A**: The input, all of it.

\`\`\`ts
export interface A {
  readonly x: number;
}
\`\`\`

**f**

\`\`\`ts
export declare function f(a: A): number;
\`\`\`
`);
});

test('the report includes unexported parts of an export from any file', () => {
  const report = describe({
    'index.ts': "export { f as g } from './a.ts';\n",
    'a.ts': "import type { B } from './b.ts';\ntype Own = B | 1;\nexport function f(own: Own): void {\n  own;\n}\n",
    'b.ts': 'export type B = 2;\nexport type C = 3;\n',
  });
  expect(report).toContain('**g** (`f` in its file)\n\n```ts\nexport declare function f(own: Own): void;');
  expect(report.slice(report.indexOf('###'))).toBe(`### Not exported, and part of the above

**B**

\`\`\`ts
export type B = 2;
\`\`\`

**Own**

\`\`\`ts
type Own = B | 1;
\`\`\`
`);
});

test('the report includes all overloads', () => {
  const source =
    'export function f(a: 1): 1;\nexport function f(a: 2): 2;\nexport function f(a: 1 | 2): 1 | 2 {\n  return a;\n}\n';
  expect(describe({ 'index.ts': "export { f } from './a.ts';\n", 'a.ts': source })).toContain(
    'export declare function f(a: 1): 1;\nexport declare function f(a: 2): 2;\n```',
  );
});

test('a source with untyped exports is refused', () => {
  const files = { 'index.ts': "export { x } from './a.ts';\n", 'a.ts': 'export const x = Math.random();\n' };
  expect(() => describe(files)).toThrow('packages/core/src/a.ts');
});
