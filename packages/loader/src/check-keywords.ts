import type { JsonObject } from '@holdfast/core';
import type { LiteralPath } from './literal.ts';
import { type Report, showPath } from './report.ts';

// Those of drafts 4 to 2020-12 that are checked, lead to others that are, or only say something to a reader.
const known: ReadonlySet<string> = new Set(
  `$schema $id $anchor $ref $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions
  type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format
  items prefixItems additionalItems unevaluatedItems maxItems minItems uniqueItems contains maxContains minContains
  properties patternProperties additionalProperties unevaluatedProperties propertyNames required dependentRequired dependentSchemas
  dependencies maxProperties minProperties allOf anyOf oneOf not if then else
  title description default deprecated readOnly writeOnly examples contentEncoding contentMediaType contentSchema`.split(
    /\s+/,
  ),
);

/** Warns (`tool.schema.keyword`) of each key of one schema that no validator looks at, such as a misspelt one. */
export function checkKeywordNames(schema: JsonObject, path: LiteralPath, report: Report): void {
  for (const key of Object.keys(schema)) {
    if (known.has(key) || key.startsWith('x-')) continue;
    report({
      severity: 'warning',
      code: 'tool.schema.keyword',
      path: [...path, key],
      message: `\`${showPath([...path, key])}\` is no keyword of JSON Schema: nothing is checked by it.`,
      hint: 'Correct it, or leave it out; notes for readers are called `$comment` or begin with `x-`.',
    });
  }
}
