import {
  defineTool,
  type ExecutableTool,
  HoldfastError,
  type Json,
  type JsonObject,
  type ToolContext,
} from '@holdfast/core';
import { deepFreeze, isPlainObject, isToolResult } from '@holdfast/core/internal';
import type { Executed, JsonSchemaDefinition } from '@holdfast/core/types';
import { type CompiledSchema, compileJsonSchema } from '@holdfast/schema/json';
import { inputReference } from '../check/extended.ts';
import type { ToolMetadata } from '../check/types.ts';

/** The parts of a tool file that make up a tool. */
export interface FileToolSource {
  /** Relative to the tools folder. */
  readonly file: string;
  /** Digest of the code that runs, in hexadecimal. */
  readonly digest: string;
  readonly metadata: ToolMetadata;
}

/**
 * Creates a tool from a file's metadata; `run` starts the call and does the work. A result over the file's size limit
 * fails the call with HoldfastError `tool.result.too_large`.
 */
export function toFileTool(
  { file, digest, metadata }: FileToolSource,
  run: (input: unknown, context: ToolContext) => Promise<unknown>,
): ExecutableTool {
  const { name, description, parameters, returns, dangerous, undeclared, effects, repeat, timeoutMs } = metadata;
  const { examples, retry, resources, maxResultBytes, environment } = metadata;
  const tool = defineTool({
    name,
    description,
    dangerous,
    effects,
    repeat,
    prepares: true,
    examples,
    origin: { kind: 'file', source: file, digest },
    ...(parameters === undefined ? {} : { inputSchema: createFileSchema(parameters) }),
    ...(returns === undefined ? {} : { outputSchema: createFileSchema<Json>(returns) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
    ...(environment === undefined ? {} : { environment }),
    ...(resources === undefined ? {} : { locks: (input: unknown) => toLocks(resources, input) }),
    async execute(input: unknown, context) {
      const result = await run(input, context);
      if (maxResultBytes !== undefined) checkSize(name, result, maxResultBytes);
      // The caller of `execute` treats the result as untrusted.
      return result as Awaited<Executed<Json>>;
    },
  });
  return undeclared ? Object.freeze({ ...tool, undeclared }) : tool;
}

// A call that omits the referenced argument has no names, and so runs alone.
function toLocks(resources: readonly string[], input: unknown): readonly string[] {
  const names = resources.map((resource) => {
    const property = inputReference(resource);
    if (property === undefined) return resource;
    return isPlainObject(input) && Object.hasOwn(input, property) ? String(input[property]) : undefined;
  });
  return names.every((name) => name !== undefined) ? names : [];
}

function checkSize(tool: string, result: unknown, maxResultBytes: number): void {
  const counted = isToolResult(result) ? [result.message, result.value] : result;
  const bytes = Buffer.byteLength(toText(counted));
  if (bytes <= maxResultBytes) return;
  const message = `The result of \`${tool}\` has ${bytes} bytes as JSON; the limit is ${maxResultBytes}. Ask for less at once.`;
  throw new HoldfastError('tool.result.too_large', message, { data: { bytes, maxResultBytes } });
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // Not JSON: the call reports it.
    return '';
  }
}

/**
 * Like `jsonSchema`, for an unshared schema that was read from a file: not copied, and frozen on first access.
 * Most tools of a large folder are never accessed.
 */
function createFileSchema<Value = unknown>(schema: JsonObject): JsonSchemaDefinition<Value> {
  return new FileSchema<Value>(schema);
}

// A class: ten thousand objects with their own getters take several times the time and memory.
class FileSchema<Value> implements JsonSchemaDefinition<Value> {
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

  compile(): CompiledSchema<Value> {
    return compileJsonSchema<Value>(this);
  }

  toJSON(): JsonObject {
    return { type: this.type, schema: this.#schema };
  }
}
