import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { findReferenceProblem } from './references.ts';

const refer = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });

/** Chained definitions: each refers to the next, the last is a string. */
function chain(length: number, make: (next: JsonObject) => JsonObject): JsonObject {
  const definitions = Array.from({ length }, (_, index): [string, JsonObject] => [
    `d${index}`,
    index === length - 1 ? { type: 'string' } : make(refer(`d${index + 1}`)),
  ]);
  return { type: 'object', properties: { city: refer('d0') }, $defs: Object.fromEntries(definitions) };
}

test.each<readonly [string, JsonObject, string]>([
  ['a schema that is itself', { $ref: '#' }, 'leads back to itself'],
  [
    'a circle through branches',
    { $defs: { a: { anyOf: [refer('b')] }, b: { not: refer('a') } } },
    'leads back to itself',
  ],
  [
    'a circle through a condition',
    { $defs: { a: { if: { type: 'string' }, else: refer('a') } } },
    'leads back to itself',
  ],
  [
    'a circle under a property with the name of a keyword',
    { properties: { default: refer('x') }, $defs: { x: refer('x') } },
    'leads back to itself',
  ],
  ['a chain of thousands', chain(4000, (next) => next), 'more than 100 schemas'],
  ['references that double', chain(40, (next) => ({ allOf: [next, next] })), 'references multiply'],
  [
    'references that triple under a condition',
    chain(30, (next) => ({ if: next, anyOf: [next], not: next })),
    'references multiply',
  ],
])('refused: %s', (_, schema, message) => {
  expect(findReferenceProblem(schema)?.message).toContain(message);
});

test.each<readonly [string, JsonObject]>([
  ['a tree', { $defs: { a: { properties: { inner: refer('a') } } } }],
  ['lists in lists', { $defs: { a: { type: 'array', items: { anyOf: [refer('a'), { type: 'string' }] } } } }],
  [
    'expressions',
    { $defs: { a: { anyOf: [{ properties: { left: refer('a'), right: refer('a') } }, { type: 'string' }] } } },
  ],
  ['a chain of fifty', chain(50, (next) => next)],
  [
    'references that double with every level of the value',
    chain(40, (next) => ({ properties: { left: next, right: next } })),
  ],
  ['thousands of references to one schema', { anyOf: Array(5000).fill(refer('a')), $defs: { a: { type: 'string' } } }],
  [
    'an example of a value that looks like a circle',
    { properties: { a: { type: 'object', default: { $ref: '#/properties/a/default' } } } },
  ],
])('accepts %s', (_, schema) => {
  expect(findReferenceProblem(schema)).toBeUndefined();
});
