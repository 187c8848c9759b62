import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { brokenTree } from '../plan/input-tree.ts';
import type { InputTree, Reference } from '../plan/types.ts';
import { joinKey } from '../plan/value-path.ts';
import { type Place, type Report, show, showList } from '../plan/violations.ts';
import { asPlainSchema, itemOf, memberOf, type SchemaPlace } from './schema-types.ts';
import type { ToolFacts } from './tool-facts.ts';

/** Inputs as the tool's schema takes them. `input`: what it makes of them, where they hold no references and are good. */
export interface CheckedInputs {
  readonly tree: InputTree;
  readonly input?: unknown;
}

/** Something in inputs whose value is known when the plan runs. */
export interface Hole {
  readonly tree: Extract<InputTree, { readonly type: 'reference' | 'text' }>;
  /** The text is nothing but this reference. */
  readonly alone: Reference | undefined;
  /** What the tool's schema says of the place. */
  readonly schema: SchemaPlace;
  readonly place: Place;
}

export interface InputChecking {
  readonly place: Place;
  readonly report: Report;
  /** Asked about every hole; whether a text that is nothing but a reference keeps the type of what it refers to. */
  checkHole(hole: Hole): boolean;
}

/**
 * Checks inputs against a tool's schema. Where nothing is referred to, as a call would; where something is, the rest of them: what
 * depends on a value that is not there yet is left open. Reports `plan.input.missing`, `plan.input.unknown`, `plan.input.type`.
 */
export function checkInputs(
  tree: InputTree,
  facts: ToolFacts,
  { place, report, checkHole }: InputChecking,
): CheckedInputs {
  const root = facts.input.jsonSchema;

  /** What of the schema still holds, and the tree with its texts decided. */
  const survey = (part: InputTree, schema: SchemaPlace, path: string): Surveyed => {
    if (part.type === 'reference' || part.type === 'text') {
      if (part === brokenTree) return { tree: part, open: true };
      const [first] = part.type === 'text' && part.parts.length === 1 ? part.parts : [];
      const alone = typeof first === 'object' ? first : undefined;
      const keepsType = checkHole({ tree: part, alone, schema, place: { ...place, path } });
      return { tree: part.type === 'text' ? { ...part, keepsType } : part, open: true };
    }
    if (part.type === 'list' || (part.type === 'value' && Array.isArray(part.value))) {
      return surveyList(part, schema, path);
    }
    if (part.type === 'object' || isPlainObject(part.value)) return surveyObject(part, schema, path);
    return { tree: part };
  };

  const surveyObject = (part: InputTree, schema: SchemaPlace, path: string): Surveyed => {
    const node = asPlainSchema(schema);
    const members = membersOf(part);
    const known =
      node !== undefined && (node['type'] === 'object' || node['properties'] !== undefined) ? node : undefined;
    const inner: { readonly key: string; readonly surveyed: Surveyed; readonly schema: Json | undefined }[] = [];
    const names = Object.keys(known?.['properties'] ?? {});
    const others = names.length === 0 ? '' : `; there are ${showList(names)}`;
    let unknown = false;
    for (const [key, member] of members) {
      const found = known === undefined ? undefined : memberOf(known, key);
      const memberPath = joinKey(path, key);
      if (found === false && known !== undefined) {
        unknown = true;
        report.add('plan.input.unknown', { ...place, path: memberPath }, `There is no input ${show(key)}${others}.`);
      }
      const memberSchema = found === false ? undefined : found;
      const surveyed = survey(member, { node: memberSchema, root }, memberPath);
      inner.push({ key, surveyed, schema: memberSchema });
    }
    const present = new Set<Json>(members.map(([key]) => key));
    const missing = known === undefined ? [] : findMissing(known, present);
    for (const key of missing) {
      report.add('plan.input.missing', { ...place, path: joinKey(path, key) }, `The input ${show(key)} is required.`);
    }
    const isChanged = inner.some(({ surveyed: { open, schema: changed } }) => open === true || changed !== undefined);
    const result: InputTree =
      part.type === 'object'
        ? { type: 'object', members: inner.map(({ key, surveyed }) => [key, surveyed.tree]) }
        : part;
    const required = Array.isArray(known?.['required']) ? (known['required'] as readonly Json[]) : [];
    // What is not there is missing, which has been said, or has a default, which is not filled in everywhere.
    const kept = required.filter((key) => present.has(key));
    if (!isChanged && !unknown && kept.length === required.length) return { tree: result };
    // A pattern would be held against what stands in for a value, too.
    if (known === undefined || (isChanged && Object.hasOwn(known, 'patternProperties'))) {
      return { tree: result, open: true };
    }
    const changes = inner.flatMap(({ key, surveyed: { open, schema: changed } }): (readonly [string, Json])[] =>
      open === true ? [[key, {}]] : changed === undefined ? [] : [[key, changed]],
    );
    // What is missing or too much has been said already, and would be said again as a wrong number of members.
    const counts = missing.length > 0 || unknown ? [] : ['minProperties', 'maxProperties'];
    return {
      tree: result,
      schema: {
        ...keep(known, ['type', 'additionalProperties', 'patternProperties', ...counts]),
        properties: { ...(known['properties'] as JsonObject | undefined), ...Object.fromEntries(changes) },
        required: kept,
        ...(unknown ? { additionalProperties: true } : {}),
      },
    };
  };

  const surveyList = (part: InputTree, schema: SchemaPlace, path: string): Surveyed => {
    const node = asPlainSchema(schema);
    const inner = itemsOf(part).map((item, index) => {
      const found = node === undefined ? undefined : itemOf(node, index);
      return survey(item, { node: found === false ? undefined : found, root }, `${path}[${index}]`);
    });
    const result: InputTree = part.type === 'list' ? { type: 'list', items: inner.map((item) => item.tree) } : part;
    if (!inner.some(({ open, schema: changed }) => open === true || changed !== undefined)) return { tree: result };
    if (node === undefined || Array.isArray(node['items'])) return { tree: result, open: true };
    const prefixItems = inner.map(({ open, schema: changed }, index): Json => {
      const found = itemOf(node, index);
      return open === true ? {} : (changed ?? (found === undefined || found === false ? {} : found));
    });
    return { tree: result, schema: { ...keep(node, ['type', 'minItems', 'maxItems']), prefixItems } };
  };

  const validated = tree.type === 'value' ? facts.input.validate(tree.value) : undefined;
  if (validated?.ok === true) return { tree, input: validated.value };

  // What is missing or unknown has codes of its own; the rest is said by the validator, about as much as still holds.
  const { tree: decided, open, schema: changed } = survey(tree, { node: root, root }, place.path);
  const rest =
    changed === undefined
      ? validated
      : facts.relax({ ...changed, ...keep(root, ['$defs', 'definitions']) })?.validate(toStandIn(tree));
  if (open === true || rest === undefined || rest.ok) return { tree: decided };
  for (const { path, message } of rest.issues) {
    const separator = path === '' || path.startsWith('[') ? '' : '.';
    report.add('plan.input.type', { ...place, path: `${place.path}${separator}${path}` }, message);
  }
  return { tree: decided };
}

interface Surveyed {
  readonly tree: InputTree;
  /** Nothing can be said about the place yet. */
  readonly open?: true;
  /** What can be said, where it is less than the tool's schema says. */
  readonly schema?: JsonObject;
}

function membersOf(part: InputTree): readonly (readonly [string, InputTree])[] {
  if (part.type === 'object') return part.members;
  if (part.type !== 'value' || !isPlainObject(part.value)) return [];
  return Object.entries(part.value as JsonObject).map(([key, value]) => [key, { type: 'value', value }]);
}

function itemsOf(part: InputTree): readonly InputTree[] {
  if (part.type === 'list') return part.items;
  if (part.type !== 'value' || !Array.isArray(part.value)) return [];
  return (part.value as readonly Json[]).map((value) => ({ type: 'value', value }));
}

/** Required, not there, and without a default. */
function findMissing({ required, properties }: JsonObject, present: ReadonlySet<Json>): readonly string[] {
  if (!Array.isArray(required)) return [];
  return (required as readonly Json[]).filter((key): key is string => {
    if (typeof key !== 'string' || present.has(key)) return false;
    const node = isPlainObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    return !(isPlainObject(node) && node['default'] !== undefined);
  });
}

function keep(node: JsonObject, keywords: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([keyword]) => keywords.includes(keyword)));
}

/** The inputs with `null` wherever something is referred to, for a schema that leaves such places open. */
function toStandIn(tree: InputTree): Json {
  switch (tree.type) {
    case 'value':
      return tree.value;
    case 'list':
      return tree.items.map(toStandIn);
    case 'object':
      return Object.fromEntries(tree.members.map(([key, inner]) => [key, toStandIn(inner)]));
    default:
      return null;
  }
}
