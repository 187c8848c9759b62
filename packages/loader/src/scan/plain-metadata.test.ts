import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ExportedFunction } from '../parse/exported-function.ts';
import { readLiteral } from '../parse/literal.ts';
import { parseModule } from '../parse/module.ts';
import { outlineModule } from '../parse/outline.ts';
import { findMetadata } from './metadata.ts';
import { readPlainLiteral, readPlainMetadata } from './plain-metadata.ts';

/** What the text says of a tool, and what the tree says; `undefined` where one has nothing to say. */
async function readBoth(source: string, file = 'x.mjs'): Promise<{ readonly plain: unknown; readonly tree: unknown }> {
  const parsing = await parseModule(source, file);
  if (parsing.type === 'refused') return { plain: undefined, tree: undefined };
  const found = readPlainMetadata(source, parsing.module, { isTypeScript: file.endsWith('ts') });
  const plain =
    found === undefined
      ? undefined
      : {
          value: found.value,
          nameOffset: found.nameOffset,
          takes: describeTaken(found.findFunction(String(found.value['function']))),
        };
  const outline = outlineModule(parsing.module);
  const metadata =
    outline.exportsAll !== undefined || outline.exports.has('then')
      ? undefined
      : findMetadata(outline, { source, comments: parsing.module.comments });
  if (metadata?.type !== 'found' || metadata.form !== 'metadata') return { plain, tree: undefined };
  const literal = readLiteral(metadata.literal, outline.bindings);
  if (literal.type === 'refused') return { plain, tree: undefined };
  const { function: work } = literal.value as { readonly function?: unknown };
  const tree = {
    value: literal.value,
    nameOffset: literal.offsetOf(['name']),
    takes: describeTaken(metadata.findFunction(String(work))),
  };
  return { plain, tree };
}

function describeTaken(found: ExportedFunction): unknown {
  return found.type === 'function' ? [found.takesInput, found.taken] : found.type;
}

const good = "name: 'x', function: 'f', description: 'd'";
const work = 'export function f() {}';
const file = (metadata: string, code = work): string => `export const METADATA = ${metadata};\n${code}\n`;

test.each([
  ['as people write it', file(`{ ${good}, parameters: { type: 'object', required: ['a',], }, }`)],
  [
    'comments everywhere',
    `/** é */export const METADATA = { /* } */ name // '\n : 'x', function: "f" /**/, description: 'd' };\n${work}`,
  ],
  ['an end without a semicolon', `export const METADATA = { ${good} }\n${work}`],
  ['quoted keys', file(`{ 'name': "x", "function": 'f', 'description': 'd', 'a b': 1 }`)],
  ['numbers', file(`{ ${good}, a: [0, -1, 1.5, 1e3, -2.5E-2] }`)],
  ['words', file(`{ ${good}, a: true, b: false, c: null }`)],
  ['escapes', file(`{ ${good}, a: 'it\\'s \\\\d \\n\\t\\/ "', b: "\\"" }`)],
  ['templates', file(`{ ${good}, a: \`two\nlines '"\` }`)],
  ['text that is no ASCII', file(`{ name: 'x', function: 'f', description: 'é漢😀' }`)],
  ['an empty list and object', file(`{ ${good}, a: [ ], b: { } }`)],
  [
    'a method that is asynchronous and takes an object',
    file(`{ ${good} }`, 'export  async function f ( { a }, b ) { }'),
  ],
  ['a comment before the parameter', file(`{ ${good} }`, 'export function f(/* none */) {}')],
  [
    'other exports',
    file(`{ ${good} }`, `${work} export const one = 1, two = 2; export class Three {} export { g }; function g() {}`),
  ],
  ['an export of another file', file(`{ ${good} }`, `${work} export { a } from './a.mjs';`)],
  [
    'keys that are words of the language',
    file(`{ ${good}, get: 1, async: 2, static: 3, constructor: 4, toString: 5 }`),
  ],
])('read from the text as from the tree: %s', async (_, source) => {
  const { plain, tree } = await readBoth(source);
  expect(plain).toBeDefined();
  expect(plain).toEqual(tree);
});

test('TypeScript without words that it takes, too', async () => {
  const source = file(
    `{ ${good} }`,
    'export interface A { a: number }\nexport function f(input: A): number { return input.a as number; }',
  );
  const { plain, tree } = await readBoth(source, 'x.ts');
  expect(plain).toEqual(tree);
  expect(plain).toMatchObject({ takes: [true, { name: 'input' }] });
});

test.each([
  ['a name', file(`{ ${good}, a: other }`, `${work}`)],
  ['undefined', file(`{ ${good}, a: undefined }`)],
  ['a spread', file(`{ ${good}, ...{} }`)],
  ['a spread in a list', file(`{ ${good}, a: [...[]] }`)],
  ['a hole', file(`{ ${good}, a: [1, , 2] }`)],
  ['a short form', `const a = 1; ${file(`{ ${good}, a }`)}`],
  ['a method', file(`{ ${good}, a() {} }`)],
  ['a getter', file(`{ ${good}, get a() { return 1; } }`)],
  ['a computed key', file(`{ ${good}, ['a']: 1 }`)],
  ['a key twice', file(`{ ${good}, name: 'y' }`)],
  ['__proto__', file(`{ ${good}, __proto__: {} }`)],
  ['__proto__ in quotes', file(`{ ${good}, '__proto__': {} }`)],
  ['a key that is no ASCII', file(`{ ${good}, é: 1 }`)],
  ['a key with an escape', file(`{ ${good}, \\u0061: 1 }`)],
  ['a key that is a number', file(`{ ${good}, 1: 1 }`)],
  ['other escapes', file(`{ ${good}, a: '\\u0041\\x41' }`)],
  ['a line that goes on', file(`{ ${good}, a: 'b\\\nc' }`)],
  ['a carriage return in a template', file(`{ ${good}, a: \`b\r\nc\` }`)],
  ['a template with an expression', file(`{ ${good}, a: \`\${1}\` }`)],
  ['a bigint', file(`{ ${good}, a: 1n }`)],
  ['a number with a separator', file(`{ ${good}, a: 1_000 }`)],
  ['a hexadecimal number', file(`{ ${good}, a: 0x10 }`)],
  ['a number that ends in a point', file(`{ ${good}, a: 1. }`)],
  ['a number without an end', file(`{ ${good}, a: 1e999 }`)],
  ['a sum', file(`{ ${good}, a: 1 + 1 }`)],
  ['a text with a method', file(`{ ${good}, a: 'b'.trim() }`)],
  ['a regular expression', file(`{ ${good}, a: /}/ }`)],
  ['something behind it', file(`{ ${good} }.name`)],
  ['a second declaration', file(`{ ${good} }, other = 1`)],
  ['parentheses', file(`({ ${good} })`)],
  ['a list', file(`[${good.length}]`)],
  ['no description', file("{ name: 'x', function: 'f' }")],
  ['a description that is none', file("{ name: 'x', function: 'f', description: 1 }")],
  ['another declaration', `export let METADATA = { ${good} };\n${work}`],
  ['another name', `const M = { ${good} };\nexport { M as METADATA };\n${work}`],
  ['a function under another name', file(`{ ${good} }`, 'function g() {} export { g as f };')],
  ['a function in a constant', file(`{ ${good} }`, 'export const f = () => 1;')],
  ['a function of another file', file(`{ ${good} }`, "export { f } from './a.mjs';")],
  ['METADATA of another file', `export { METADATA } from './a.mjs';\n${work}`],
  ['a generator', file(`{ ${good} }`, 'export function* f() {}')],
  ['a function whose name only begins so', file(`{ ${good} }`, 'export function ff() {} export const f = 1;')],
  ['no function', file(`{ ${good} }`, '')],
  ['a default export', file(`{ ${good} }`, `${work} export default 1;`)],
  ['everything of another file', file(`{ ${good} }`, `${work} export * from './a.mjs';`)],
  ['an export called then', file(`{ ${good} }`, `${work} export const { then } = {};`)],
  ['too deep', file(`{ ${good}, a: ${'['.repeat(40)}${']'.repeat(40)} }`)],
])('left to the tree: %s', async (_, source) => {
  expect((await readBoth(source)).plain).toBeUndefined();
});

test('in TypeScript `this` is no parameter, and what it makes of words is left to the tree', async () => {
  const both = (code: string) => readBoth(file(`{ ${good} }`, code), 'x.ts');
  expect(await both('export function f(this: void) {}')).toMatchObject({
    plain: undefined,
    tree: { takes: [false, {}] },
  });
  expect((await readBoth(file(`{ ${good} } as const`), 'x.ts')).plain).toBeUndefined();
  for (const code of [
    'enum A { a }',
    'namespace A { export const a = 1; }',
    "import a = require('a');",
    'export /**/ = 1;',
  ])
    expect(await parseModule(file(`{ ${good} }`, `${work} ${code}`), 'x.ts')).toMatchObject({ type: 'refused' });
});

test.each([
  'export function f(input: A): number { return 1; }',
  'export async function f({ a, b }: { a: string; b?: number }, context: Context): Promise<string[]> {}',
  'export function f(): Array<Map<string, number>> {}',
  'export function f(): void\n{}',
  'export function f(a: string): void;\nexport function f(a: string) {}',
])('a function of TypeScript whose body can be seen: %s', async (code) => {
  const { plain, tree } = await readBoth(file(`{ ${good} }`, code), 'x.ts');
  expect(plain).toBeDefined();
  expect(plain).toEqual(tree);
});

test.each([
  'export function f(a = 1) {}',
  'export function f({ a = 1 }) {}',
  'export function f({ a: b }, { c, ...d }) {}',
  'export function f(a: string): void;',
  'export function f(a: string): void',
  'export function f(a: string): { b: string }',
  'export function f(a: string): a is { b: string }',
  'export function f(a: string): keyof { b: string }',
  'export function f(a: string): A | { b: string }',
  'export function f(a: string): A<{ b: string }>',
  'export function f(a: string): () => { b: string }',
  'export function f(a: { b(): void }): { b: string }',
  "export function f(a: ') {'): { b: string }",
  'export function f(a: /* ) { */ string): { b: string }',
  'export declare function f(a: string): void;',
  'export abstract class f {}',
])('what has no body that can be seen is left to the tree: %s', async (code) => {
  const { plain } = await readBoth(file(`{ ${good} }`, code), 'x.ts');
  expect(plain).toBeUndefined();
});

const blank = fc.constantFrom('', ' ', '\n', '\t', '/* ,} */', '// "\n', '\u00a0');
const key = fc.oneof(
  fc.constantFrom('a', 'b1', '$', '_x', "'c d'", '"e"', '1', '[2]', '`f`', '__proto__'),
  fc.string().map((text) => JSON.stringify(text)),
);
const { any } = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(
      'true',
      'null',
      '-1',
      '- 1',
      '+1',
      '.5',
      '0.5',
      '1e2',
      '0x1',
      'x',
      "'a'",
      "'\\''",
      '"\\u0061"',
      '`a`',
      ['`a$', '{1}`'].join(''),
      "'a' 'b'",
      'undefined',
      '/a/',
    ),
    fc.string().map((text) => JSON.stringify(text)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc
      .array(
        fc.tuple(blank, tie('any'), blank).map((parts) => parts.join('')),
        { maxLength: 4 },
      )
      .map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(blank, key, blank, tie('any'), blank), { maxLength: 4 })
      .map((members) => `{${members.map(([a, name, b, value, c]) => `${a}${name}${b}:${value}${c}`).join()}}`),
  ),
}));

test('whatever is written, the text says what the tree says, or nothing', async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(any, fc.constantFrom('', ',', ' '), async (text, comma) => {
      const { plain, tree } = await readBoth(file(`{ ${good}, a: ${text}${comma} }`));
      if (plain === undefined) return;
      read += 1;
      expect(plain).toEqual(tree);
    }),
    { numRuns: 170 },
  );
  // Otherwise it would show nothing.
  expect(read).toBeGreaterThan(8);
});

test('whatever is changed in a file, the text says what the tree says, or nothing', async () => {
  const sources = [
    file(
      `{ ${good}, parameters: { type: 'object', a: [1, true, null, \`x\`] } }`,
      'export async function f({ a }, b) {}\nexport { g as h }; const g = 1;',
    ),
    file(`{ ${good} }`, 'export function f(input: A): number { return 1; }\nexport interface A { a: number }'),
  ];
  const pieces = [
    '',
    ' ',
    ';',
    ',',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    "'",
    '"',
    '`',
    ':',
    '.',
    '*',
    '/',
    '//',
    '/*',
    '*/',
    '=',
    '\\',
    '\n',
    '0',
    'x',
    '!',
  ];
  const words = [
    ' as const',
    ' satisfies A',
    'this',
    'export ',
    'default ',
    'async ',
    'enum A {}',
    ': void;',
    'then',
    '__proto__: 1,',
    '...a',
    'name: 1,',
    '?',
    '<T>',
    '-',
    'new ',
  ];
  let read = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1),
      fc.nat(400),
      fc.nat(3),
      fc.constantFrom(...pieces, ...words),
      async (which, at, removed, piece) => {
        const source = sources[which] ?? '';
        const changed = source.slice(0, at) + piece + source.slice(at + removed);
        const { plain, tree } = await readBoth(changed, which === 0 ? 'x.mjs' : 'x.ts');
        if (plain === undefined) return;
        read += 1;
        expect(plain).toEqual(tree);
      },
    ),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(8);
});

test('a long text and many members take time in proportion', () => {
  const long = `{ a: '${'\\n'.repeat(200_000)}', b: /* ${'*'.repeat(200_000)} */ 1 }`;
  expect(readPlainLiteral(long, 0)).toMatchObject({ end: long.length, value: { b: 1 } });
  const many = `{ a: [${'1, '.repeat(9_000)}] }`;
  expect(readPlainLiteral(many, 0)?.end).toBe(many.length);
  expect(readPlainLiteral(`{ a: [${'1, '.repeat(20_000)}] }`, 0)).toBeUndefined();
  expect(readPlainLiteral('{ a: /* ', 0)).toBeUndefined();
  expect(readPlainLiteral('{ a: [ ', 0)).toBeUndefined();
});
