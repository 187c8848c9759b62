import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import type { LiteralPath } from '../parse/literal.ts';
import { checkFormat, checkKeywordNames, findReferenceProblem, findUnknownReference } from './keywords.ts';
import { checkKeywordValues } from './meta-schema.ts';
import { findPatternProblem } from './pattern.ts';
import { showPath } from './report.ts';
import type { Report } from './types.ts';

const types: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);
const typeHint = 'Types are string, number, integer, boolean, object and array, and null beside another one.';

/** Where a schema lies, and whether it has to say of itself what it accepts. */
interface Place {
  readonly path: LiteralPath;
  readonly root: JsonObject;
  /** False for what only adds conditions to a schema that has a type. */
  readonly mustBeTyped: boolean;
}

/**
 * Reports where a schema breaks the conventions for tool files: `tool.schema.invalid` (malformed), `tool.schema.vague`
 * (says nothing about what it accepts), `tool.schema.ref`, `tool.schema.pattern`.
 */
export function checkSchema(schema: JsonObject, path: LiteralPath, report: Report): void {
  checkNode(schema, { path, root: schema, mustBeTyped: true }, report);
  const problem = findReferenceProblem(schema);
  if (problem !== undefined) report({ code: 'tool.schema.ref', path, ...problem });
}

function checkNode(schema: Json, place: Place, report: Report): void {
  const { path, mustBeTyped } = place;
  const at = showPath(path);
  if (!isPlainObject(schema)) {
    report({
      code: 'tool.schema.invalid',
      path,
      message: `\`${at}\` must be a schema, which is an object.`,
      hint: "Write for example `{ type: 'string' }`.",
    });
    return;
  }
  checkType(schema, place, report);
  const typed = ['type', 'enum', 'const', ...branchKeywords, '$ref'].some((key) => Object.hasOwn(schema, key));
  if (mustBeTyped && !typed) {
    report({
      code: 'tool.schema.vague',
      path,
      message: `\`${at}\` does not say which type it has.`,
      hint: `Give it a \`type\`, an \`enum\` or a \`const\`. ${typeHint}`,
    });
  }
  checkKeywords(schema, path, report);
  checkReference(schema, place, report);
  checkObject(schema, place, report);
  checkArray(schema, place, report);
  for (const inner of subschemas(schema)) {
    checkNode(
      inner.schema,
      {
        ...place,
        path: [...path, ...inner.path],
        mustBeTyped: inner.isValue || (inner.isBranch && mustBeTyped && !Object.hasOwn(schema, 'type')),
      },
      report,
    );
  }
}

function checkType({ type }: JsonObject, { path }: Place, report: Report): void {
  if (type === undefined) return;
  const all: readonly Json[] = Array.isArray(type) ? type : [type];
  const wrong = all.find((one) => !types.has(one) && one !== 'null');
  if (wrong === undefined && all.some((one) => one !== 'null')) return;
  const message =
    wrong === undefined
      ? `\`${showPath(path)}\` accepts nothing but null.`
      : `\`${showPath(path)}\` has the unknown type \`${JSON.stringify(wrong)}\`.`;
  report({ code: 'tool.schema.invalid', path: [...path, 'type'], message, hint: typeHint });
}

function checkObject(schema: JsonObject, { path }: Place, report: Report): void {
  const { properties, required } = schema;
  const at = showPath(path);
  const isOpen = Object.hasOwn(schema, 'additionalProperties') && schema['additionalProperties'] !== false;
  const describes = ['properties', 'patternProperties', '$ref', ...branchKeywords].some((key) =>
    Object.hasOwn(schema, key),
  );
  if (accepts(schema, 'object') && !describes && !isOpen && path.length > 1) {
    report({
      code: 'tool.schema.vague',
      path,
      message: `\`${at}\` is an object without \`properties\`, so nothing but \`{}\` fits it.`,
      hint: 'List its `properties`, or say `additionalProperties: true`.',
    });
  }
  if (!Array.isArray(required)) return;
  // Only a schema that lists its own properties can be said to require one that is not there.
  if (!isPlainObject(properties) || ['$ref', ...branchKeywords].some((key) => Object.hasOwn(schema, key))) return;
  for (const name of required) {
    if (Object.hasOwn(properties, String(name))) continue;
    report({
      code: 'tool.schema.invalid',
      path: [...path, 'required'],
      message: `\`${at}.required\` names \`${String(name)}\`, which is not in \`${at}.properties\`.`,
      hint: 'Add the property, or correct the name.',
    });
  }
}

function checkArray(schema: JsonObject, { path }: Place, report: Report): void {
  if (!accepts(schema, 'array') || Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems')) return;
  report({
    code: 'tool.schema.invalid',
    path,
    message: `\`${showPath(path)}\` is an array without \`items\`.`,
    hint: "Say what it holds, for example `items: { type: 'string' }`.",
  });
}

function checkReference(schema: JsonObject, { path, root }: Place, report: Report): void {
  for (const keyword of ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef']) {
    if (!Object.hasOwn(schema, keyword)) continue;
    report({
      code: 'tool.schema.ref',
      path: [...path, keyword],
      message: `\`${showPath(path)}\` uses \`${keyword}\`.`,
      hint: 'Refer by `$ref` to a place in the same schema, such as `#/$defs/name`.',
    });
  }
  const problem = findUnknownReference(schema['$ref'], root);
  if (problem === undefined) return;
  report({
    code: 'tool.schema.ref',
    path: [...path, '$ref'],
    message: problem,
    hint: 'Put what is referred to under `$defs` of the same schema and write `#/$defs/name`.',
  });
}

function accepts({ type }: JsonObject, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

const ranges = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;

function checkKeywords(schema: JsonObject, path: LiteralPath, report: Report): void {
  const at = showPath(path);
  checkKeywordValues(schema, path, report);
  for (const [low, high] of ranges) {
    const [least, most] = [schema[low], schema[high]];
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
    report({
      code: 'tool.schema.invalid',
      path: [...path, low],
      message: `\`${at}.${low}\` is above \`${high}\`: nothing fits.`,
      hint: 'Swap the two, or correct one.',
    });
  }
  checkFormat(schema, path, report);
  checkKeywordNames(schema, path, report);
  const named = isPlainObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : [];
  for (const pattern of [schema['pattern'], ...named]) {
    const problem = typeof pattern === 'string' ? findPatternProblem(pattern) : undefined;
    if (problem !== undefined) report({ code: 'tool.schema.pattern', path: [...path, 'pattern'], ...problem });
  }
}

const branchKeywords = ['anyOf', 'oneOf', 'allOf'] as const;

interface Subschema {
  readonly schema: Json;
  readonly path: LiteralPath;
  /** Describes a value of its own. */
  readonly isValue: boolean;
  /** Describes the same value as the schema that it stands in. */
  readonly isBranch: boolean;
}

function subschemas(schema: JsonObject): readonly Subschema[] {
  const found: Subschema[] = [];
  const add = (path: LiteralPath, inner: Json, kind: 'value' | 'branch' | 'condition'): void => {
    found.push({ schema: inner, path, isValue: kind === 'value', isBranch: kind === 'branch' });
  };
  for (const [key, value] of Object.entries(schema)) {
    switch (key) {
      case 'properties':
      case 'patternProperties':
      case '$defs':
      case 'definitions':
      case 'dependentSchemas':
        if (!isPlainObject(value)) break;
        for (const [name, inner] of Object.entries(value as JsonObject))
          add([key, name], inner, key.endsWith('roperties') ? 'value' : 'condition');
        break;
      case 'prefixItems':
      case 'anyOf':
      case 'oneOf':
      case 'allOf':
        if (Array.isArray(value))
          for (const [index, inner] of value.entries())
            add([key, String(index)], inner, key === 'prefixItems' ? 'value' : 'branch');
        else add([key], value, 'branch');
        break;
      case 'items':
      case 'additionalProperties':
      case 'unevaluatedProperties':
      case 'unevaluatedItems':
      case 'additionalItems':
        if (typeof value === 'boolean' && key !== 'items') break;
        // The older spelling of `prefixItems`.
        if (Array.isArray(value))
          for (const [index, inner] of value.entries()) add([key, String(index)], inner, 'value');
        else add([key], value, 'value');
        break;
      case 'not':
      case 'if':
      case 'then':
      case 'else':
      case 'contains':
      case 'propertyNames':
        add([key], value, 'condition');
        break;
    }
  }
  return found;
}
