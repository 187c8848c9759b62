import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { brokenTree } from '../plan/input-tree.ts';
import type { InputTree, Reference } from '../plan/types.ts';
import { joinKey } from '../plan/value-path.ts';
import { type Place, type Report, show, showList } from '../plan/violations.ts';
import { asPlainSchema, itemOf, memberOf, type SchemaPlace } from './schema-types.ts';
import type { ToolFacts } from './tool-facts.ts';

/** Inputs checked against the tool's schema. `input`: the parsed value if the inputs are valid and hold no references. */
export interface CheckedInputs {
  readonly tree: InputTree;
  readonly input?: unknown;
}

/** A place in the inputs whose value is known only when the plan runs. */
export interface Hole {
  readonly tree: Extract<InputTree, { readonly type: 'reference' | 'text' }>;
  /** Set if the text consists of this reference alone. */
  readonly alone: Reference | undefined;
  /** The tool's schema for this place. */
  readonly schema: SchemaPlace;
  readonly place: Place;
}

export interface InputChecking {
  readonly place: Place;
  readonly report: Report;
  /** Called for each hole. True if a text that is a single reference keeps the type of the value. */
  checkHole(hole: Hole): boolean;
}

/**
 * Checks inputs against a tool's schema. Inputs without references are validated as in a call; otherwise everything that does not depend on
 * a future value is. Reports `plan.input.missing`, `plan.input.type`, `plan.invalid`.
 */
export function checkInputs(
  tree: InputTree,
  facts: ToolFacts,
  { place, report, checkHole }: InputChecking,
): CheckedInputs {
  const root = facts.input.jsonSchema;

  /** The part of the schema that can be checked now, and the tree with `keepsType` set. */
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
    const others = names.length === 0 ? '' : `. Known inputs: ${showList(names)}`;
    let unknown = false;
    for (const [key, member] of members) {
      const found = known === undefined ? undefined : memberOf(known, key);
      const memberPath = joinKey(path, key);
      if (found === false && known !== undefined) {
        unknown = true;
        report.add('input.unknown', { ...place, path: memberPath }, `Unknown input ${show(key)}${others}.`);
      }
      const memberSchema = found === false ? undefined : found;
      const surveyed = survey(member, { node: memberSchema, root }, memberPath);
      inner.push({ key, surveyed, schema: memberSchema });
    }
    const present = new Set<Json>(members.map(([key]) => key));
    const missing = known === undefined ? [] : findMissing(known, present);
    for (const key of missing) {
      report.add('plan.input.missing', { ...place, path: joinKey(path, key) }, `Missing required input ${show(key)}.`);
    }
    const isChanged = inner.some(({ surveyed: { open, schema: changed } }) => open === true || changed !== undefined);
    const result: InputTree =
      part.type === 'object'
        ? { type: 'object', members: inner.map(({ key, surveyed }) => [key, surveyed.tree]) }
        : part;
    const required = Array.isArray(known?.['required']) ? (known['required'] as readonly Json[]) : [];
    // An absent key was either reported or has a default, which is not filled in everywhere.
    const kept = required.filter((key) => present.has(key));
    if (!isChanged && !unknown && kept.length === required.length) return { tree: result };
    // A pattern would also be checked against stand-in values.
    if (known === undefined || (isChanged && Object.hasOwn(known, 'patternProperties'))) {
      return { tree: result, open: true };
    }
    const changes = inner.flatMap(({ key, surveyed: { open, schema: changed } }): (readonly [string, Json])[] =>
      open === true ? [[key, {}]] : changed === undefined ? [] : [[key, changed]],
    );
    // A missing or unknown key would be reported again as a wrong number of members.
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

  // Missing and unknown keys have codes of their own; the validator reports the rest.
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
  /** Nothing can be checked here yet. */
  readonly open?: true;
  /** The part of the tool's schema that can be checked, if not all of it. */
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

/** The required keys that are absent and have no default. */
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

/** The inputs with `null` in place of each reference, for a schema that leaves these places open. */
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
