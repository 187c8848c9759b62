import { deepFreeze, type JsonObject, type JsonSchemaDefinition } from '@holdfast/core';

/**
 * As `jsonSchema` of core, of a schema that was read from a file and that nobody changes: no copy is made of it, and it is frozen when
 * somebody first looks at it. Of the tools of a large folder most are never looked at.
 */
export function createFileSchema<Value = unknown>(schema: JsonObject): JsonSchemaDefinition<Value> {
  return new FileSchema(schema);
}

// A class: ten thousand objects with a getter of their own take several times the time and the memory.
class FileSchema implements JsonSchemaDefinition {
  readonly type = 'json-schema';
  readonly #schema: JsonObject;
  #isFrozen = false;

  constructor(schema: JsonObject) {
    this.#schema = schema;
    Object.freeze(this);
  }

  get schema(): JsonObject {
    if (!this.#isFrozen) deepFreeze(this.#schema);
    this.#isFrozen = true;
    return this.#schema;
  }

  toJSON(): JsonObject {
    return { type: this.type, schema: this.#schema };
  }
}
