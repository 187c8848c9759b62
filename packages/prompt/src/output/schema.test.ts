import type { JsonObject } from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { toNativeList } from './schema.ts';

test('a list becomes an object of one key, and definitions stay where references find them', () => {
  const list: JsonObject = {
    type: 'array',
    description: 'Cities.',
    minItems: 1,
    items: { $ref: '#/$defs/city' },
    $defs: { city: { type: 'object', properties: { twin: { $ref: '#/$defs/city' } }, additionalProperties: false } },
  };
  expect(toNativeList(list)).toEqual({
    type: 'object',
    description: 'Cities.',
    properties: { items: { type: 'array', minItems: 1, items: { $ref: '#/$defs/city' } } },
    required: ['items'],
    additionalProperties: false,
    $defs: list['$defs'],
  });
});

test('other references go where the list has gone; what only looks like one stays', () => {
  const list: JsonObject = {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        $ref: { const: { $ref: '#' } },
        default: { $ref: '#/items/properties/name' },
        name: { type: 'string', default: '#', examples: [{ $ref: '#/a' }] },
        inner: { anyOf: [{ $ref: '#' }, { $ref: '#/definitions/none' }] },
      },
    },
    definitions: { none: { type: 'null', enum: [null] }, all: { $ref: '#/items' } },
  };
  const native = toNativeList(list);
  expect(native).toMatchObject({
    properties: {
      items: {
        items: {
          properties: {
            $ref: { const: { $ref: '#' } },
            default: { $ref: '#/properties/items/items/properties/name' },
            name: { default: '#', examples: [{ $ref: '#/a' }] },
            inner: { anyOf: [{ $ref: '#/properties/items' }, { $ref: '#/definitions/none' }] },
          },
        },
      },
    },
    definitions: { all: { $ref: '#/properties/items/items' } },
  });
  const value = [{ $ref: { $ref: '#' }, default: 'x', name: 'y', inner: [{ inner: null, name: 'z' }] }];
  const wrong = [{ inner: [{ default: 7 }] }];
  const plain = compileSchema(jsonSchema(list));
  const wrapped = compileSchema(jsonSchema(native));
  expect(plain.validate(value).ok).toBe(true);
  expect(wrapped.validate({ items: value }).ok).toBe(true);
  expect(plain.validate(wrong).ok).toBe(false);
  expect(wrapped.validate({ items: wrong }).ok).toBe(false);
});
