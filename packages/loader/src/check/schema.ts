import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LiteralPath } from '../parse/literal.ts';
import { findExpected, isKeyword, listSubschemas } from './keywords.ts';
import { findPatternProblem } from './pattern.ts';
import { findReferenceProblem, findUnknownReference } from './references.ts';
import { showPath } from './report.ts';
import type { Report } from './types.ts';

/** The formats that are checked in every call. */
export const formats: readonly string[] =
  'date time date-time duration email hostname ipv4 ipv6 uri uri-reference uri-template uuid regex json-pointer relative-json-pointer'.split(
    ' ',
  );

const types: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);
const typeHint = 'Types are string, number, integer, boolean, object and array, and null in addition to another one.';
const branches = ['anyOf', 'oneOf', 'allOf'];
const ranges = ['imum', 'Length', 'Items', 'Properties'].map((what) => [`min${what}`, `max${what}`] as const);

/** The position of a schema, and whether it must declare what it accepts. */
interface Place {
  readonly path: LiteralPath;
  readonly root: JsonObject;
  /** False for schemas that only add conditions to a typed schema. */
  readonly mustBeTyped: boolean;
}

/**
 * Reports violations of the conventions for schemas in tool files: `tool.schema.invalid` (malformed), `tool.schema.vague` (does not say
 * what it accepts), `tool.schema.invalid` (`format`, `keyword`, `ref`, `pattern`).
 */
export function checkSchema(schema: JsonObject, path: LiteralPath, report: Report): void {
  checkNode(schema, { path, root: schema, mustBeTyped: true }, report);
  const problem = findReferenceProblem(schema);
  if (problem !== undefined) report({ code: 'tool.schema.invalid', reason: 'ref', path, ...problem });
}

function checkNode(node: Json, place: Place, report: Report): void {
  const { path, mustBeTyped } = place;
  if (!isPlainObject(node)) {
    const message = `\`${showPath(path)}\` must be a schema object.`;
    report({ code: 'tool.schema.invalid', path, message, hint: "For example: `{ type: 'string' }`." });
    return;
  }
  // A plain object within JSON is a JSON object.
  const schema = node as JsonObject;
  checkType(schema, place, report);
  checkKeywords(schema, path, report);
  checkReference(schema, place, report);
  checkObject(schema, path, report);
  if (accepts(schema, 'array') && !hasAny(schema, ['items', 'prefixItems'])) {
    const message = `\`${showPath(path)}\` is an array without \`items\`.`;
    const hint = "Describe its items, for example `items: { type: 'string' }`.";
    report({ code: 'tool.schema.invalid', path, message, hint });
  }
  const isOpen = mustBeTyped && !Object.hasOwn(schema, 'type');
  for (const inner of listSubschemas(schema)) {
    const isTyped = inner.role === 'value' || (inner.role === 'branch' && isOpen);
    checkNode(inner.schema, { ...place, path: [...path, ...inner.path], mustBeTyped: isTyped }, report);
  }
}

function hasAny(schema: JsonObject, keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(schema, key));
}

function accepts({ type }: JsonObject, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

function checkType(schema: JsonObject, { path, mustBeTyped }: Place, report: Report): void {
  const { type } = schema;
  if (mustBeTyped && !hasAny(schema, ['type', 'enum', 'const', '$ref', ...branches])) {
    const message = `\`${showPath(path)}\` has no type.`;
    const hint = `Add a \`type\`, an \`enum\` or a \`const\`. ${typeHint}`;
    report({ code: 'tool.schema.vague', path, message, hint });
  }
  if (type === undefined) return;
  const all: readonly Json[] = Array.isArray(type) ? type : [type];
  const wrong = all.find((one) => !types.has(one) && one !== 'null');
  if (wrong === undefined && all.some((one) => one !== 'null')) return;
  const what = wrong === undefined ? 'accepts only null' : `has the unknown type \`${JSON.stringify(wrong)}\``;
  const message = `\`${showPath(path)}\` ${what}.`;
  report({ code: 'tool.schema.invalid', path: [...path, 'type'], message, hint: typeHint });
}

function checkObject(schema: JsonObject, path: LiteralPath, report: Report): void {
  const { properties, required, additionalProperties = false } = schema;
  const isElsewhere = hasAny(schema, ['$ref', ...branches]);
  const describes = isElsewhere || hasAny(schema, ['properties', 'patternProperties']);
  if (accepts(schema, 'object') && !describes && additionalProperties === false && path.length > 1) {
    const message = `\`${showPath(path)}\` is an object without \`properties\`, so it accepts only \`{}\`.`;
    const hint = 'List its `properties`, or set `additionalProperties: true`.';
    report({ code: 'tool.schema.vague', path, message, hint });
  }
  // A missing property can only be detected in a schema that lists its own properties.
  if (!Array.isArray(required) || !isPlainObject(properties) || isElsewhere) return;
  for (const name of required) {
    if (Object.hasOwn(properties, String(name))) continue;
    const at = showPath(path);
    const message = `\`${at}.required\` names \`${String(name)}\`, which is not in \`${at}.properties\`.`;
    const hint = 'Add the property, or fix the name.';
    report({ code: 'tool.schema.invalid', path: [...path, 'required'], message, hint });
  }
}

function checkReference(schema: JsonObject, { path, root }: Place, report: Report): void {
  for (const keyword of ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef']) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const message = `\`${showPath(path)}\` uses \`${keyword}\`.`;
    const hint = 'Use `$ref` to a place in the same schema, such as `#/$defs/name`.';
    report({ code: 'tool.schema.invalid', reason: 'ref', path: [...path, keyword], message, hint });
  }
  const message = findUnknownReference(schema['$ref'], root);
  const hint = 'Move the target under `$defs` of the same schema and use `#/$defs/name`.';
  if (message !== undefined)
    report({ code: 'tool.schema.invalid', reason: 'ref', path: [...path, '$ref'], message, hint });
}

function checkKeywords(schema: JsonObject, path: LiteralPath, report: Report): void {
  for (const key of Object.keys(schema)) checkKeyword(key, schema[key] ?? null, { path: [...path, key], report });
  for (const [low, high] of ranges) {
    const [least, most] = [schema[low], schema[high]];
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
    const message = `\`${showPath(path)}.${low}\` is greater than \`${high}\`: no value is valid.`;
    report({ code: 'tool.schema.invalid', path: [...path, low], message, hint: 'Swap the two, or fix one.' });
  }
  const { format, pattern, patternProperties } = schema;
  if (typeof format === 'string' && !formats.includes(format)) {
    // Otherwise a tool would rely on a check that does not happen.
    const message = `\`${showPath(path)}.format\` is \`${format}\`, which is not checked.`;
    const hint = `Supported formats: ${formats.join(', ')}. For others use a \`pattern\`, \`minimum\` or \`maximum\`.`;
    report({ code: 'tool.schema.invalid', reason: 'format', path: [...path, 'format'], message, hint });
  }
  for (const one of [pattern, ...(isPlainObject(patternProperties) ? Object.keys(patternProperties) : [])]) {
    const problem = typeof one === 'string' ? findPatternProblem(one) : undefined;
    if (problem !== undefined)
      report({ code: 'tool.schema.invalid', reason: 'pattern', path: [...path, 'pattern'], ...problem });
  }
}

function checkKeyword(
  key: string,
  value: Json,
  { path, report }: { readonly path: LiteralPath; readonly report: Report },
): void {
  const expected = findExpected(key, value);
  if (expected !== undefined) {
    const message = `\`${showPath(path)}\` must be ${expected}.`;
    const example = "For example: `required: ['city']`.";
    const hint = key === 'required' ? example : 'Fix the value, or remove the keyword.';
    report({ code: 'tool.schema.invalid', path, message, hint });
  }
  if (isKeyword(key) || key.startsWith('x-')) return;
  const message = `\`${showPath(path)}\` is not a JSON Schema keyword, so it checks nothing.`;
  const hint = 'Fix or remove it; for notes use `$comment` or a name that starts with `x-`.';
  report({ severity: 'warning', code: 'tool.schema.invalid', reason: 'keyword', path, message, hint });
}
