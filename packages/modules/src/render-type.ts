import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, toCanonicalJson } from '@holdfast/core';

/** What says nothing of a single value, or is said elsewhere. */
const silent: ReadonlySet<string> = new Set(['$schema', 'title', 'description', 'default', 'examples']);
const plainTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

/** What a value has to be, in words that a model knows: `string`, `one of: a; b`, `integer or null`, else the JSON Schema. */
export function renderType(schema: JsonObject): string {
  const said = Object.fromEntries(Object.entries(schema).filter(([key, value]) => !isSilent(key, value)));
  const { type, ...rest } = said;
  const allowed = 'const' in said ? [said['const']] : said['enum'];
  if (Array.isArray(allowed)) return renderChoice(allowed as readonly Json[]);
  if (Object.keys(said).length === 0) return 'any JSON value';
  const alternatives = Object.keys(said).length === 1 ? readAlternatives(said) : undefined;
  if (alternatives !== undefined) return alternatives.map(renderType).join(' or ');
  const limits = Object.keys(rest).length === 0 ? '' : ` with the JSON Schema ${toCanonicalJson(rest)}`;
  if (typeof type === 'string' && plainTypes.has(type)) return `${type}${limits}`;
  const { items, ...others } = rest;
  if (type === 'array' && Object.keys(others).length === 0) {
    if (items === undefined) return 'JSON array';
    if (isPlainObject(items) && isPlain(items)) return `JSON array of ${renderType(items)}`;
  }
  return `JSON with the JSON Schema ${toCanonicalJson(said)}`;
}

function renderChoice(values: readonly Json[]): string {
  const isReadable = values.every(
    (value) => typeof value === 'string' && /^[^\s;"`](?:[^\n;"`]*[^\s;"`])?$/.test(value),
  );
  const shown = values.map((value) => (isReadable ? String(value) : toCanonicalJson(value)));
  return shown.length === 1 ? `always ${shown[0]}` : `one of: ${shown.join('; ')}`;
}

/** Such as what valibot makes of a nullable. */
function readAlternatives({ anyOf, type }: JsonObject): readonly JsonObject[] | undefined {
  if (Array.isArray(type)) return type.map((one) => ({ type: one as Json }));
  if (!Array.isArray(anyOf)) return undefined;
  const schemas = (anyOf as readonly Json[]).filter((one): one is JsonObject => isPlainObject(one));
  return schemas.length === anyOf.length && schemas.every(isPlain) ? schemas : undefined;
}

/** Whether a few words say all of it. */
function isPlain(schema: JsonObject): boolean {
  if ('const' in schema || Array.isArray(schema['enum'])) return true;
  return Object.entries(schema).every(
    ([key, value]) => isSilent(key, value) || (key === 'type' && plainTypes.has(value)),
  );
}

/** Integers of zod have the bounds of what a number counts exactly, which tell a model nothing. */
function isSilent(key: string, value: unknown): boolean {
  if (key === 'minimum') return value === Number.MIN_SAFE_INTEGER;
  return key === 'maximum' ? value === Number.MAX_SAFE_INTEGER : silent.has(key);
}
