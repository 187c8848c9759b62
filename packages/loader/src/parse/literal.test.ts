import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LiteralReading, readLiteral } from './literal.ts';
import { parseModule } from './module.ts';
import { outlineModule } from './outline.ts';

async function read(source: string): Promise<LiteralReading> {
  const parsing = await parseModule(source, 'x.ts');
  if (parsing.type === 'refused') throw new Error(parsing.finding.message);
  const { bindings } = outlineModule(parsing.module);
  const subject = bindings.get('subject');
  if (subject?.type !== 'const') throw new Error('The test needs `const subject = …`.');
  return readLiteral(subject.value, bindings);
}

const jsonValue = fc.jsonValue({ maxDepth: 5 }).filter((value) => !JSON.stringify(value).includes('"__proto__"'));
const wrappers = ['%', '(%)', '% as const', '(% satisfies unknown)', '((% as unknown) as never)'] as const;

test('a literal is read as an equal value', async () => {
  await fc.assert(
    fc.asyncProperty(jsonValue, fc.constantFrom(...wrappers), async (value, wrapper) => {
      const literal = JSON.stringify(value);
      const reading = await read(`const subject = ${wrapper.replace('%', () => literal)};`);
      expect(reading).toMatchObject({ type: 'read' });
      expect(reading.type === 'read' && reading.value).toStrictEqual(JSON.parse(literal));
    }),
    { numRuns: 50 },
  );
});

test.each([
  [
    'const subject = { a: -1, "b": +2, 3: `c\\n`, d: [true, null, 1e3, 0x10] };',
    { a: -1, b: 2, 3: 'c\n', d: [true, null, 1000, 16] },
  ],
  [
    'const city = { type: "string" }; const subject = { properties: { city, other: city } };',
    { properties: { city: { type: 'string' }, other: { type: 'string' } } },
  ],
  ['const a = 1, b = [a]; const subject = { b };', { b: [1] }],
  ['const subject = { toString: 1, constructor: 2 };', { toString: 1, constructor: 2 }],
])('%s', async (source, value) => {
  const reading = await read(source);
  expect(reading.type === 'read' && reading.value).toEqual(value);
});

test('offsets of members, or of their nearest existing parent', async () => {
  const source = 'const subject = { a: { b: [1, 2] } };';
  const reading = await read(source);
  if (reading.type !== 'read') throw new Error(reading.found);
  expect(reading.offsetOf([])).toBe(source.indexOf('{'));
  expect(reading.offsetOf(['a', 'b'])).toBe(source.indexOf('b:'));
  expect(reading.offsetOf(['a', 'b', '1'])).toBe(source.indexOf('2'));
  expect(reading.offsetOf(['a', 'b', '1', 'c'])).toBe(source.indexOf('2'));
  expect(reading.offsetOf(['a', 'missing'])).toBe(source.indexOf('a:'));
});

test.each([
  { source: 'const subject = { a: f() };', at: 'f()', found: 'a call' },
  { source: 'const subject = new Proxy({}, {});', at: 'new', found: 'a `new` expression' },
  { source: 'const subject = { name: "a" + b };', at: '"a"', found: 'a computed value' },
  { source: 'const subject = { ...other };', at: '...', found: 'a spread' },
  { source: 'const subject = [...other];', at: '...', found: 'a spread' },
  { source: 'const subject = [1, , 2];', at: '[', found: 'an array with a hole' },
  { source: 'const subject = { ["a"]: 1 };', at: '["a"]', found: 'a computed key' },
  { source: 'const subject = { get a() { return 1 } };', at: 'get', found: 'a getter or setter' },
  { source: 'const subject = { a() {} };', at: 'a()', found: 'a method' },
  { source: 'const subject = { a: () => 1 };', at: '()', found: 'a function' },
  { source: 'const subject = { __proto__: {} };', at: '__proto__', found: 'the key `__proto__`' },
  { source: 'const subject = { "__proto__": {} };', at: '"__proto__"', found: 'the key `__proto__`' },
  { source: 'const subject = { a: 1, "a": 2 };', at: '"a"', found: 'the duplicate key `a`' },
  { source: 'const subject = `a$' + '{b}`;', at: 'b}', found: 'a template with an expression' },
  { source: 'const subject = tag`a`;', at: 'tag', found: 'a tagged template' },
  { source: 'const subject = { a: undefined };', at: 'undefined', found: '`undefined`' },
  { source: 'const subject = { a: NaN };', at: 'NaN', found: 'the name `NaN`' },
  { source: 'let b = 1; const subject = { a: b };', at: 'b }', found: 'the name `b`' },
  { source: 'import { b } from "b"; const subject = { a: b };', at: 'b }', found: 'the name `b`' },
  { source: 'const subject = { a: later }; const later = 1;', at: 'later }', found: '`later` before its definition' },
  { source: 'const subject = { a: subject };', at: 'subject }', found: '`subject` before its definition' },
  { source: 'const b = { c: 1 }; const subject = b.c;', at: 'b.c', found: 'a member of another value' },
  { source: 'const subject = /a/;', at: '/a/', found: 'a regular expression' },
  { source: 'const subject = 1n;', at: '1n', found: 'a bigint' },
  { source: 'const subject = 1e999;', at: '1e999', found: 'an infinite number' },
  { source: 'const subject = -1e999;', at: '-1e999', found: 'the operator `-`' },
  { source: 'const subject = !0;', at: '!0', found: 'the operator `!`' },
  { source: 'const subject = a ? 1 : 2;', at: 'a ?', found: 'a computed value' },
  { source: 'const subject = await 1;', at: 'await', found: 'an `await`' },
  { source: 'const subject = (1, 2);', at: '1, 2', found: 'an expression' },
])('refuses $source', async ({ source, at, found }) => {
  const reading = await read(source);
  expect(reading).toMatchObject({ type: 'refused', found, offset: source.lastIndexOf(at) });
  expect(reading.type === 'refused' && reading.hint).not.toBe('');
});

test('constants that multiply into billions of values and cyclic constants are refused', async () => {
  const lines = Array.from(
    { length: 20 },
    (_, index) => `const a${index + 1} = [a${index}, a${index}, a${index}, a${index}];`,
  );
  const bomb = await read(['const a0 = [1];', ...lines, 'const subject = a20;'].join('\n'));
  expect(bomb).toMatchObject({ type: 'refused', found: 'a literal that is too large' });
  const links = Array.from({ length: 200 }, (_, index) => `const a${index + 1} = a${index};`);
  const chain = await read(['const a0 = 1;', ...links, 'const subject = a200;'].join('\n'));
  expect(chain).toMatchObject({ type: 'refused', found: 'a literal that is too large' });
});
