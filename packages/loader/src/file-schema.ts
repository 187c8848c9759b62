import { deepFreeze, type JsonObject, type JsonSchemaDefinition } from '@holdfast/core';

/**
 * As `jsonSchema` of core, of a schema that was read from a file and that nobody changes: no copy is made of it, and it is frozen when
 * somebody first looks at it. Of the tools of a large folder most are never looked at.
 */
export function createFileSchema<Value = unknown>(schema: JsonObject): JsonSchemaDefinition<Value> {
  let frozen: JsonObject | undefined;
  return Object.freeze({
    type: 'json-schema',
    get schema() {
      frozen ??= deepFreeze(schema);
      return frozen;
    },
  });
}
