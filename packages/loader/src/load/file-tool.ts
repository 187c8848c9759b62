import {
  deepFreeze,
  defineTool,
  type ExecutableTool,
  type Executed,
  HoldfastError,
  isPlainObject,
  isToolResult,
  type Json,
  type JsonObject,
  type JsonSchemaDefinition,
  type ToolContext,
} from '@holdfast/core';
import { type CompiledSchema, compileJsonSchema } from '@holdfast/schema/json';
import { inputReference } from '../check/extended.ts';
import type { ToolMetadata } from '../check/types.ts';

/** A tool file as far as a tool needs it. */
export interface FileToolSource {
  /** Relative to the tools folder. */
  readonly file: string;
  /** Of the code that runs, in hexadecimal. */
  readonly digest: string;
  readonly metadata: ToolMetadata;
}

/**
 * Makes the tool that a file's metadata describes; `run` does its work, and begins the call. A result that is larger than the file allows fails the
 * call with HoldfastError `tool.result.too_large`.
 */
export function toFileTool(
  { file, digest, metadata }: FileToolSource,
  run: (input: unknown, context: ToolContext) => Promise<unknown>,
): ExecutableTool {
  const { name, description, parameters, returns, dangerous, undeclared, effects, repeat, timeoutMs } = metadata;
  const { examples, retry, resources, maxResultBytes, environment } = metadata;
  const tool = defineTool<unknown, Json>({
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
    async execute(input, context) {
      const result = await run(input, context);
      if (maxResultBytes !== undefined) checkSize(name, result, maxResultBytes);
      // Whatever comes back, the caller of `execute` takes it for untrusted.
      return result as Awaited<Executed<Json>>;
    },
  });
  return undeclared ? Object.freeze({ ...tool, undeclared }) : tool;
}

// A call that leaves out what is referred to has no names, and so runs alone.
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
  const message = `The result of \`${tool}\` has ${bytes} bytes as JSON, and ${maxResultBytes} are allowed: ask for less at once.`;
  throw new HoldfastError('tool.result.too_large', message, { data: { bytes, maxResultBytes } });
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // No JSON: the call will say so.
    return '';
  }
}

/**
 * As `jsonSchema`, of a schema that was read from a file and that nobody changes: no copy is made of it, and it is frozen when
 * somebody first looks at it. Of the tools of a large folder most are never looked at.
 */
function createFileSchema<Value = unknown>(schema: JsonObject): JsonSchemaDefinition<Value> {
  return new FileSchema<Value>(schema);
}

// A class: ten thousand objects with a getter of their own take several times the time and the memory.
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
