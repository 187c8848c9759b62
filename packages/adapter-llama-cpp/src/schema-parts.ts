import { isPlainObject } from '@holdfast/core/internal';

/** A JSON Schema object. */
export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that do not constrain values. */
export const silent: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'examples', '$schema', '$id', '$comment', 'deprecated', 'readOnly'],
  ...['writeOnly', '$defs', 'definitions'],
]);

/** Keywords that a grammar enforces or can ignore. */
export const held: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'prefixItems', 'minItems'],
  ...['maxItems', 'minLength', 'maxLength', 'anyOf', 'oneOf', 'allOf', '$ref', 'nullable'],
  ...silent,
]);

const allTypes = ['object', 'array', 'string', 'number', 'boolean', 'null'];

export function typesOf(schema: Schema): readonly string[] {
  const declared = schema['type'];
  const types = Array.isArray(declared) ? declared.filter((type) => typeof type === 'string') : [declared];
  const named = types.filter((type): type is string => typeof type === 'string');
  const guessed = ['properties', 'additionalProperties'].some((keyword) => Object.hasOwn(schema, keyword))
    ? ['object']
    : ['items', 'prefixItems'].some((keyword) => Object.hasOwn(schema, keyword))
      ? ['array']
      : allTypes;
  const found = named.length > 0 ? named : guessed;
  return schema['nullable'] === true && !found.includes('null') ? [...found, 'null'] : found;
}

/** Merges object schemas: properties and required keys. */
export function mergeAll(schema: Schema, branches: readonly unknown[]): Schema {
  const { allOf: _all, ...base } = schema;
  const all = [base, ...branches.filter(isPlainObject)];
  const properties = all.flatMap(({ properties: some }) => (isPlainObject(some) ? Object.entries(some) : []));
  const required = all.flatMap(({ required: some }) => (Array.isArray(some) ? some : []));
  return {
    ...Object.fromEntries(all.flatMap((one) => Object.entries(one))),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** A longer chain of references counts as circular. */
const maxChain = 256;

/** True if the reference stands for nothing but itself: a grammar cannot express that. */
export function isCircular(reference: string, root: Schema): boolean {
  const seen = new Set<string>();
  const open: unknown[] = [resolve(reference, root)];
  while (open.length > 0) {
    const schema = open.pop();
    if (!isPlainObject(schema)) continue;
    for (const branches of [schema['anyOf'], schema['oneOf'], schema['allOf']]) {
      if (Array.isArray(branches)) for (const branch of branches) open.push(branch);
    }
    const next = schema['$ref'];
    if (typeof next !== 'string' || seen.has(next)) continue;
    if (next === reference || seen.size === maxChain) return true;
    seen.add(next);
    open.push(resolve(next, root));
  }
  return false;
}

export function resolve(reference: string, root: Schema): unknown {
  // Anchors are not resolved.
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  let target: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isPlainObject(target) || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return target;
}

/** The JSON of a value as a grammar literal. */
export function toLiteral(value: unknown): string {
  const json = JSON.stringify(value ?? null);
  return `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

export function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Escapes one step of a JSON Pointer. */
export function toStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
