import { type JsonObject, jsonSchema } from '@holdfast/core';
import { type CompiledSchema, compileJsonSchema } from '@holdfast/schema/json';
import type { LiteralPath } from '../parse/literal.ts';
import { showPath } from './report.ts';
import type { Report } from './types.ts';

function each(keywords: string, schema: JsonObject): JsonObject {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, schema]));
}

const texts = { type: 'array', items: { type: 'string' } } as const;

// What the meta-schema of draft 2020-12 says of the keywords of one schema. Schemas in it are checked where they stand, which has a place.
// `title`: what people are told, after "must be".
const properties: JsonObject = {
  ...each('minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', {
    type: 'integer',
    minimum: 0,
    title: 'a whole number from 0',
  }),
  ...each('minimum maximum exclusiveMinimum exclusiveMaximum', { type: 'number', title: 'a number' }),
  ...each('description title format pattern $schema $comment contentEncoding contentMediaType', {
    type: 'string',
    title: 'a text',
  }),
  ...each('properties patternProperties $defs definitions dependentSchemas', {
    type: 'object',
    additionalProperties: true,
    title: 'an object of schemas',
  }),
  ...each('uniqueItems deprecated readOnly writeOnly', { type: 'boolean', title: 'true or false' }),
  multipleOf: { type: 'number', exclusiveMinimum: 0, title: 'a number above 0' },
  enum: { type: 'array', minItems: 1, items: true, title: 'a list with at least one value' },
  examples: { type: 'array', items: true, title: 'a list' },
  required: { ...texts, title: 'a list of property names' },
  dependentRequired: { type: 'object', additionalProperties: texts, title: 'an object of lists of property names' },
};

const hints: ReadonlyMap<string, string> = new Map([['required', "Write for example `required: ['city']`."]]);

let compiled: CompiledSchema | undefined;

/** Reports `tool.schema.invalid` for each keyword of one schema whose value is none that it takes. */
export function checkKeywordValues(schema: JsonObject, path: LiteralPath, report: Report): void {
  // Not when the package is imported: most folders need it never.
  compiled ??= compileJsonSchema(jsonSchema({ type: 'object', properties, additionalProperties: true }));
  if (compiled.validate(schema).ok) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (!Object.hasOwn(properties, keyword) || compiled.validate({ [keyword]: value }).ok) continue;
    const { title } = properties[keyword] as JsonObject;
    report({
      code: 'tool.schema.invalid',
      path: [...path, keyword],
      message: `\`${showPath([...path, keyword])}\` must be ${String(title)}.`,
      hint: hints.get(keyword) ?? 'Correct the value, or leave the keyword out.',
    });
  }
}
