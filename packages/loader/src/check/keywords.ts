import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import type { LiteralPath } from '../parse/literal.ts';
import type { Finding } from '../text/diagnostic.ts';
import { showPath } from './report.ts';
import type { Report } from './types.ts';

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

/** The formats that are checked at every call. */
export const formats: readonly string[] = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
  'regex',
  'json-pointer',
  'relative-json-pointer',
];

/** Reports `tool.schema.format` for a format that nobody checks: it promises a tool what it does not get. */
export function checkFormat({ format }: JsonObject, path: LiteralPath, report: Report): void {
  if (typeof format !== 'string' || formats.includes(format)) return;
  report({
    code: 'tool.schema.format',
    path: [...path, 'format'],
    message: `\`${showPath(path)}.format\` is \`${format}\`, which is not checked.`,
    hint: `Formats are ${formats.join(', ')}; for others write a \`pattern\`, \`minimum\` or \`maximum\`.`,
  });
}

/** Why a `$ref` cannot be followed inside `root`; `undefined` when it can, or when there is none. */
export function findUnknownReference(reference: Json | undefined, root: JsonObject): string | undefined {
  if (reference === undefined) return undefined;
  if (typeof reference !== 'string') return '`$ref` must be a text.';
  if (!reference.startsWith('#')) return `\`$ref\` \`${reference}\` points outside the file; nothing is ever fetched.`;
  return isPlainObject(resolveReference(reference, root))
    ? undefined
    : `\`$ref\` \`${reference}\` names nothing in this schema.`;
}

// One value is checked against no more schemas than a literal can hold, and not through more references than a stack bears.
const maxSchemas = 20_000;
const maxChain = 100;

/**
 * The first `$ref` of `root` by which checking one value never ends, or takes for ever: it comes back to its own schema without a
 * step into a value, is the last of a long chain, or stands for thousands of schemas because references multiply.
 */
export function findReferenceProblem(root: JsonObject): Pick<Finding, 'message' | 'hint'> | undefined {
  /** Schemas that a value is checked against by each that has been looked through. */
  const costs = new Map<Json, number>();
  let problem: Pick<Finding, 'message' | 'hint'> | undefined;

  function costOf(schema: Json, open: Set<Json>): number {
    if (!isPlainObject(schema) || problem !== undefined) return 1;
    const known = costs.get(schema as JsonObject);
    if (known !== undefined) return known;
    open.add(schema as JsonObject);
    let cost = 1;
    const { $ref: reference } = schema;
    const target = typeof reference === 'string' ? resolveReference(reference, root) : undefined;
    if (target !== undefined) {
      if (open.has(target)) problem ??= describeCircle(reference);
      else if (open.size > maxChain) problem ??= describeChain(reference);
      else cost += costOf(target, open);
    }
    for (const inner of sameValue(schema as JsonObject)) cost += costOf(inner, open);
    if (cost > maxSchemas) problem ??= describeCost(reference);
    open.delete(schema as JsonObject);
    costs.set(schema as JsonObject, cost);
    return cost;
  }

  function visit(node: Json, isMap: boolean): void {
    if (typeof node !== 'object' || node === null) return;
    if (!isMap) costOf(node, new Set());
    for (const [key, inner] of Object.entries(node)) {
      // What is only an example of a value may look like a reference.
      if (isMap || Array.isArray(node) || !literals.includes(key)) visit(inner, !isMap && maps.includes(key));
    }
  }
  visit(root, false);
  return problem;
}

const literals: readonly string[] = ['const', 'enum', 'default', 'examples'];
const maps: readonly string[] = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

function describeCircle(reference: unknown): Pick<Finding, 'message' | 'hint'> {
  return {
    message: `\`$ref\` \`${String(reference)}\` leads back to itself before it reaches any value.`,
    hint: 'Let a reference to itself stand under `properties` or `items`.',
  };
}

function describeChain(reference: unknown): Pick<Finding, 'message' | 'hint'> {
  return {
    message: `\`$ref\` \`${String(reference)}\` comes at the end of more than ${maxChain} schemas, each within the one before.`,
    hint: 'Refer to the schema that is meant.',
  };
}

function describeCost(reference: unknown): Pick<Finding, 'message' | 'hint'> {
  return {
    message: `${reference === undefined ? 'A schema' : `\`$ref\` \`${String(reference)}\``} makes one value be checked against more than ${maxSchemas} schemas: references multiply.`,
    hint: 'Refer to each schema once.',
  };
}

function sameValue(schema: JsonObject): readonly Json[] {
  return ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].flatMap((key) => {
    const value = schema[key];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  });
}

function resolveReference(reference: string, root: JsonObject): Json | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let node: Json | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodePart(part);
    if (key === undefined || typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Object.getOwnPropertyDescriptor(node, key)?.value;
  }
  return node;
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    // A stray `%`: such a reference names nothing.
    return undefined;
  }
}
