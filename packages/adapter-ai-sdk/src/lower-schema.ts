import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type LoweringTarget, type LoweringTargetName, loweringTargets } from './lowering-targets.ts';

/** A keyword that was left out or changed for the provider. */
export interface LoweredKeyword {
  /** JSON Pointer to the schema with the keyword; empty for the root. */
  readonly path: string;
  readonly keyword: string;
  readonly reason: string;
}

export interface Lowering {
  /** The schema to send; the same object if nothing was lowered. */
  readonly schema: JsonObject;
  readonly lowered: readonly LoweredKeyword[];
  /** False if the target's strict mode cannot express the schema. It is then sent unchanged, as a hint to the model. */
  readonly strict: boolean;
}

/**
 * Lowers a JSON Schema to the subset a provider supports, and reports every keyword that was lost or changed. A reply
 * may violate the lost keywords: validate it against the original schema, as the executor does.
 */
export function lowerSchema(schema: JsonObject, target: LoweringTargetName): Lowering {
  const rules = loweringTargets[target];
  const walk: Walk = { rules, root: schema, lowered: [], obstacles: [], inlining: [], budget: { left: maxInlined } };
  const walked = lowerNode(schema, '', walk);
  const result = rules.plainRoot === true ? toPlainRoot(walked, walk) : walked;
  const { lowered, obstacles } = walk;
  if (obstacles.length > 0) return { schema, lowered: obstacles, strict: false };
  return { schema: lowered.length === 0 && rules.closed !== true ? schema : result, lowered, strict: true };
}

/** Limit of inlined references: a few lines of schema can expand to millions. */
const maxInlined = 1_000;

interface Walk {
  readonly rules: LoweringTarget;
  readonly root: JsonObject;
  readonly lowered: LoweredKeyword[];
  /** Constructs that strict mode cannot express; without them, the model could not give a correct answer. */
  readonly obstacles: LoweredKeyword[];
  /** References that are being inlined. */
  readonly inlining: readonly string[];
  readonly budget: { left: number };
}

const mapKeywords: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]);
const listKeywords: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
const schemaKeywords: ReadonlySet<string> = new Set([
  ...[
    'items',
    'additionalProperties',
    'not',
    'if',
    'then',
    'else',
    'contains',
    'propertyNames',
    'unevaluatedProperties',
    'unevaluatedItems',
  ],
]);

function lowerNode(schema: JsonObject, path: string, walk: Walk): JsonObject {
  const { rules, lowered } = walk;
  const reference = schema['$ref'];
  if (rules.inlineReferences === true && typeof reference === 'string') return inline(schema, reference, path, walk);
  if (rules.finite === true && typeof reference === 'string' && containsItself(reference, walk.root))
    walk.obstacles.push({ path, keyword: '$ref', reason: 'strict mode does not support recursive schemas' });
  const result: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const problem = findProblem(keyword, value, rules);
    if (problem === undefined) set(result, keyword, lowerValue(keyword, value, `${path}/${toStep(keyword)}`, walk));
    else if (keyword === 'oneOf' && Array.isArray(value) && mayBecome('anyOf', schema, rules)) {
      lowered.push({ path, keyword, reason: 'sent as `anyOf`, which allows several matches' });
      set(result, 'anyOf', lowerValue('anyOf', value, `${path}/oneOf`, walk));
    } else if (keyword === 'const' && mayBecome('enum', schema, rules)) {
      lowered.push({ path, keyword, reason: 'sent as `enum`, which means the same' });
      set(result, 'enum', [value]);
    } else if (!(rules.inlineReferences === true && ['$defs', 'definitions'].includes(keyword)))
      lowered.push({ path, keyword, reason: problem });
  }
  if (isObjectSchema(schema)) checkObject(schema, result, path, walk);
  return result;
}

function mayBecome(keyword: string, schema: JsonObject, rules: LoweringTarget): boolean {
  return isKept(keyword, rules) && !Object.hasOwn(schema, keyword);
}

function isKept(keyword: string, { keywords }: LoweringTarget): boolean {
  return keywords === undefined || keywords.has(keyword);
}

function findProblem(keyword: string, value: Json, rules: LoweringTarget): string | undefined {
  if (!isKept(keyword, rules)) return 'not supported by the provider';
  if (keyword === 'format' && rules.formats !== undefined && !(typeof value === 'string' && rules.formats.has(value)))
    return `the provider does not support ${JSON.stringify(value)}`;
  const values = rules.values?.get(keyword);
  return values === undefined || values.includes(value)
    ? undefined
    : `the provider supports only ${values.join(' and ')}`;
}

function lowerValue(keyword: string, value: Json, path: string, walk: Walk): Json {
  if (mapKeywords.has(keyword) && isSchema(value)) {
    const result: Record<string, Json> = {};
    for (const [name, inner] of Object.entries(value)) {
      set(result, name, isSchema(inner) ? lowerNode(inner, `${path}/${toStep(name)}`, walk) : inner);
    }
    return result;
  }
  if (listKeywords.has(keyword) && Array.isArray(value)) {
    return value.map((inner: Json, index) => (isSchema(inner) ? lowerNode(inner, `${path}/${index}`, walk) : inner));
  }
  return schemaKeywords.has(keyword) && isSchema(value) ? lowerNode(value, path, walk) : value;
}

function checkObject(schema: JsonObject, result: Record<string, Json>, path: string, { rules, obstacles }: Walk): void {
  if (rules.closed === true) {
    // Absent means closed in Holdfast, open to providers.
    if ((schema['additionalProperties'] ?? false) !== false)
      obstacles.push({ path, keyword: 'additionalProperties', reason: 'strict mode requires closed objects' });
    result['additionalProperties'] = false;
  }
  if (rules.allRequired !== true || !isSchema(schema['properties'])) return;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  if (Object.keys(schema['properties']).some((name) => !required.includes(name)))
    obstacles.push({ path, keyword: 'required', reason: 'strict mode requires every property' });
}

/** Inlines a local reference. A recursive one is cut at its second occurrence. */
function inline(schema: JsonObject, reference: string, path: string, walk: Walk): JsonObject {
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$ref'));
  const found = resolve(reference, walk.root);
  const problem = findInlineProblem(reference, found, walk);
  walk.lowered.push({ path, keyword: '$ref', reason: problem ?? 'inlined' });
  if (problem !== undefined) return lowerNode(rest, path, walk);
  walk.budget.left -= 1;
  return lowerNode({ ...found, ...rest }, path, { ...walk, inlining: [...walk.inlining, reference] });
}

function findInlineProblem(reference: string, found: JsonObject | undefined, walk: Walk): string | undefined {
  if (found === undefined) return 'the reference points outside the schema';
  if (walk.inlining.includes(reference)) return 'a recursive schema is cut here';
  return walk.budget.left > 0 ? undefined : `more than ${maxInlined} references are not inlined`;
}

/** True if `reference` leads back to itself. */
function containsItself(reference: string, root: JsonObject): boolean {
  const seen = new Set<string>();
  const pending: (Json | undefined)[] = [resolve(reference, root)];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const target = isSchema(node) ? node['$ref'] : undefined;
    if (target === reference) return true;
    if (typeof target === 'string' && !seen.has(target)) {
      seen.add(target);
      pending.push(resolve(target, root) ?? null);
    }
    pending.push(...Object.values(node));
  }
  return false;
}

function resolve(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: Json | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isSchema(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isSchema(found) ? found : undefined;
}

const choices = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else', '$ref'];

/** Flattens the root to a plain object with the properties of every branch. */
function toPlainRoot(schema: JsonObject, { root, lowered, obstacles, rules }: Walk): JsonObject {
  const found = choices.filter((keyword) => Object.hasOwn(schema, keyword));
  if (found.length === 0 && schema['type'] === 'object') return schema;
  const problems = rules.allRequired === true ? obstacles : lowered;
  const branches = collectBranches(schema, root);
  if (!branches.some(isObjectSchema)) {
    obstacles.push({ path: '', keyword: 'type', reason: 'the root must be an object' });
    return schema;
  }
  for (const keyword of found)
    problems.push({ path: '', keyword, reason: 'not supported at the root; sent with the properties of every branch' });
  if (schema['type'] !== 'object') problems.push({ path: '', keyword: 'type', reason: 'must be `object` at the root' });
  const properties: Record<string, Json> = {};
  for (const branch of branches) {
    for (const [name, property] of Object.entries(isSchema(branch['properties']) ? branch['properties'] : {})) {
      if (!Object.hasOwn(properties, name)) set(properties, name, property);
    }
  }
  const rest = Object.entries(schema).filter(([keyword]) => !choices.includes(keyword));
  return { ...Object.fromEntries(rest), type: 'object', properties };
}

function collectBranches(schema: JsonObject, root: JsonObject, depth = 8): JsonObject[] {
  if (depth === 0) return [];
  const inner = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => {
    const list = schema[keyword];
    return Array.isArray(list) ? list.filter(isSchema) : [];
  });
  const target = typeof schema['$ref'] === 'string' ? resolve(schema['$ref'], root) : undefined;
  return [
    schema,
    ...[...(target === undefined ? [] : [target]), ...inner].flatMap((one) => collectBranches(one, root, depth - 1)),
  ];
}

function isObjectSchema(schema: JsonObject): boolean {
  const { type } = schema;
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || Object.hasOwn(schema, 'properties');
}

function isSchema(value: Json | undefined): value is JsonObject {
  return isPlainObject(value);
}

/** Safe for a property called `__proto__`. */
function set(target: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Escapes one step of a JSON Pointer. */
function toStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
