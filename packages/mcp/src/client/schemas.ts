import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { CompiledSchema, JsonSchemaDefinition } from '@holdfast/core/types';
import { jsonSchema } from '@holdfast/schema/json';

/** Keys that a schema does not mention are allowed, as JSON Schema means it. Holdfast's own schemas refuse them. */
export function openSchema(schema: JsonObject): JsonObject {
  // `additionalProperties` would count all keys as evaluated, so such a schema stays closed.
  return JSON.stringify(schema).includes('"unevaluatedProperties"') ? schema : (openNode(schema) as JsonObject);
}

const maps: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const literals: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

function openNode(node: Json): Json {
  if (Array.isArray(node)) return node.map(openNode);
  if (!isPlainObject(node)) return node;
  const opened = Object.entries(node as JsonObject).map(([key, inner]): readonly [string, Json] => {
    if (literals.has(key)) return [key, inner];
    if (!maps.has(key) || !isPlainObject(inner)) return [key, openNode(inner)];
    return [key, Object.fromEntries(Object.entries(inner).map(([name, value]) => [name, openNode(value as Json)]))];
  });
  const isObject = node['type'] === 'object' || isPlainObject(node['properties']);
  const open = isObject && node['additionalProperties'] === undefined ? [['additionalProperties', true] as const] : [];
  return Object.fromEntries([...opened, ...open]);
}

/** The schema of a whole result whose `structuredContent` meets the server's `outputSchema`. */
export function resultSchema(outputSchema: JsonObject): JsonSchemaDefinition<JsonObject> {
  const inner = jsonSchema<JsonObject>(openSchema(outputSchema));
  // Compiled now, so that a bad schema is found when the tool is imported.
  const compiled = inner.compile();
  const schema: JsonObject = {
    type: 'object',
    properties: { content: { type: 'array' }, structuredContent: compiled.jsonSchema },
    required: ['structuredContent'],
    additionalProperties: true,
  };
  const validate: CompiledSchema<JsonObject>['validate'] = (value) => {
    const structured = isPlainObject(value) ? value['structuredContent'] : undefined;
    if (structured === undefined) {
      return { ok: false, issues: [{ path: 'structuredContent', message: 'is missing' }] };
    }
    const validation = compiled.validate(structured);
    if (!validation.ok) {
      const issues = validation.issues.map(({ path, message }) => {
        const place = path === '' || path.startsWith('[') ? path : `.${path}`;
        return { path: `structuredContent${place}`, message };
      });
      return { ok: false, issues };
    }
    return { ok: true, value: value as JsonObject };
  };
  return Object.freeze({ type: 'json-schema', schema, compile: () => ({ jsonSchema: schema, validate }) });
}
