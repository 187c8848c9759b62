import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxDocumentBytes } from './document.ts';
import { parseOverrides } from './read.ts';

const ref = { ns: 'tests', key: 'prompt', tag: 'latest' };
const head = { version: 1, ...ref };
const hash = 'a'.repeat(64);
const read = (document: object) => parseOverrides(JSON.stringify(document), ref);

test('a document is taken apart into its entries, in its order', () => {
  const { entries, problems } = read({
    ...head,
    sections: {
      'a.b': { body: { hash, text: '' }, summary: { hash: null, text: 'Short.' } },
      a: { visibility: { hash, value: 'summary' }, taskExamples: { hash, value: [] } },
    },
    tools: {
      t: {
        description: { hash, text: 'Does.' },
        parameters: { 'x.y': { hash, text: 'An x.' }, constructor: { hash, text: 'A name.' } },
        examples: { hash, value: null },
      },
    },
  });
  expect(problems).toEqual([]);
  expect(entries).toEqual([
    { place: { section: 'a.b', part: 'body' }, hash, override: '' },
    { place: { section: 'a.b', part: 'summary' }, hash: null, override: 'Short.' },
    { place: { section: 'a', part: 'visibility' }, hash, override: 'summary' },
    { place: { section: 'a', part: 'taskExamples' }, hash, override: [] },
    { place: { tool: 't', part: 'description' }, hash, override: 'Does.' },
    { place: { tool: 't', part: 'parameters.x.y' }, hash, override: 'An x.' },
    { place: { tool: 't', part: 'parameters.constructor' }, hash, override: 'A name.' },
    { place: { tool: 't', part: 'examples' }, hash, override: null },
  ]);
  expect(read(head)).toEqual({ entries: [], problems: [] });
});

const entry = { hash, text: 'x' };

interface Bad {
  readonly sections?: unknown;
  readonly tools?: unknown;
  readonly extra?: unknown;
  readonly place: object;
  readonly why: string;
}

test.each<Bad>([
  { sections: [], place: { part: 'sections' }, why: 'an object' },
  { sections: { a: null }, place: { section: 'a', part: '' }, why: 'an object' },
  { sections: { a: 'text' }, place: { section: 'a', part: '' }, why: 'an object' },
  { sections: { a: { body: 'text' } }, place: { section: 'a', part: 'body' }, why: '`hash` and `text` alone' },
  { sections: { a: { body: [entry] } }, place: { section: 'a', part: 'body' }, why: '`hash` and `text` alone' },
  { sections: { a: { body: { hash } } }, place: { section: 'a', part: 'body' }, why: '`hash` and `text` alone' },
  { sections: { a: { body: { hash, value: 'x' } } }, place: { section: 'a', part: 'body' }, why: '`text` alone' },
  { sections: { a: { body: { ...entry, x: 1 } } }, place: { section: 'a', part: 'body' }, why: '`text` alone' },
  { sections: { a: { body: { text: 'x' } } }, place: { section: 'a', part: 'body' }, why: '`hash` must be' },
  { sections: { a: { body: { ...entry, hash: 1 } } }, place: { section: 'a', part: 'body' }, why: '`hash` must be' },
  { sections: { a: { body: { ...entry, hash: '' } } }, place: { section: 'a', part: 'body' }, why: '`hash` must be' },
  {
    sections: { a: { body: { ...entry, hash: hash.toUpperCase() } } },
    place: { section: 'a', part: 'body' },
    why: '`hash` must be',
  },
  {
    sections: { a: { body: { ...entry, hash: `${hash}\n` } } },
    place: { section: 'a', part: 'body' },
    why: '`hash` must be',
  },
  { sections: { a: { body: { hash, text: 1 } } }, place: { section: 'a', part: 'body' }, why: 'a string' },
  { sections: { a: { body: { hash, text: null } } }, place: { section: 'a', part: 'body' }, why: 'a string' },
  { sections: { a: { title: entry } }, place: { section: 'a', part: 'title' }, why: '`taskExamples` can be' },
  { sections: { a: { toString: entry } }, place: { section: 'a', part: 'toString' }, why: 'can be overridden' },
  { sections: { a: { description: entry } }, place: { section: 'a', part: 'description' }, why: 'can be overridden' },
  { tools: 1, place: { part: 'tools' }, why: 'an object' },
  { tools: { t: { body: entry } }, place: { tool: 't', part: 'body' }, why: '`parameters` can be' },
  { tools: { t: { parameters: [] } }, place: { tool: 't', part: 'parameters' }, why: 'an object' },
  { tools: { t: { parameters: { p: 1 } } }, place: { tool: 't', part: 'parameters.p' }, why: '`text` alone' },
  { extra: {}, place: { part: 'extra' }, why: '`sections` and `tools`' },
])('what is bad in $place is said, and the rest stays: $why', ({ place, why, ...bad }) => {
  const good = { sections: { good: { body: entry } }, tools: { good: { description: entry } } };
  const { entries, problems } = read({ ...head, ...good, ...bad });
  expect(problems).toEqual([{ place, why: expect.stringContaining(why) }]);
  const left = [
    { section: 'good', part: 'body' },
    { tool: 'good', part: 'description' },
  ];
  const untouched = left.filter((_, index) => !Object.hasOwn(bad, index === 0 ? 'sections' : 'tools'));
  expect(entries.map((found) => found.place)).toEqual(untouched);
});

test('a bad entry costs none of those beside it', () => {
  const parameters = { p: entry, q: { ...entry, hash: 'x' } };
  const { entries, problems } = read({
    ...head,
    sections: {
      a: { body: entry, summary: 1, visibility: { hash, value: 1 }, title: entry },
      b: 1,
      c: { body: entry },
    },
    tools: { t: { parameters, examples: { hash }, description: entry }, u: [] },
  });
  expect(problems.map(({ place }) => Object.values(place).join(' '))).toEqual([
    'a summary',
    'a title',
    'b ',
    't parameters.q',
    't examples',
    'u ',
  ]);
  expect(entries.map(({ place }) => Object.values(place).join(' '))).toEqual([
    'a body',
    'a visibility',
    'c body',
    't parameters.p',
    't description',
  ]);
});

test.each([
  { text: '', why: 'it is not JSON' },
  { text: 'null', why: 'it is not a JSON object' },
  { text: '[]', why: 'it is not a JSON object' },
  { text: '{}', why: '`version` must be 1, got none' },
  { text: JSON.stringify({ ...head, version: 2 }), why: '`version` must be 1, got `2`' },
  { text: JSON.stringify({ ...head, version: '1' }), why: '`version` must be 1, got `"1"`' },
  { text: JSON.stringify({ ...head, ns: 'others' }), why: '`ns` must be `tests`, got `"others"`' },
  { text: JSON.stringify({ ...head, key: undefined }), why: '`key` must be `prompt`, got none' },
  { text: JSON.stringify({ ...head, tag: 'stable' }), why: '`tag` must be `latest`, got `"stable"`' },
  { text: '{"version":1,"version":1}', why: 'a key twice' },
  { text: '{"version":1,"sections":{"__proto__":{}}}', why: '`__proto__`' },
  { text: `{"version":1,"tools":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`, why: 'nested deeper' },
  { text: JSON.stringify({ ...head, more: 'x'.repeat(10_000_000) }), why: `longer than ${maxDocumentBytes} bytes` },
])('no document: $why', ({ text, why }) => {
  expect(() => parseOverrides(text, ref)).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'override.document',
      message: expect.stringContaining(why),
    }),
  );
});

test('whatever JSON stands behind the head, each thing in it is an entry or a problem and nothing throws', () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const part = fc.oneof(json, fc.record({ hash: fc.constantFrom(hash, null), text: json }));
  const some = fc.dictionary(fc.constantFrom('a', 'body', 'parameters', 'toString', 'hash'), fc.oneof(part, json));
  const overrides = fc.oneof(json, fc.dictionary(fc.constantFrom('a', 'constructor', ''), fc.oneof(some, json)));
  fc.assert(
    fc.property(overrides, overrides, (sections, tools) => {
      const text = JSON.stringify({ ...head, sections, tools });
      fc.pre(!text.includes('__proto__'));
      const { entries, problems } = parseOverrides(text, ref);
      for (const { override } of entries) expect(text).toContain(JSON.stringify(override));
      expect(problems.every(({ why }) => why !== '')).toBe(true);
    }),
  );
});
