import { isPlainObject, type Json, type JsonObject, ReadOnlyMap, type Tool } from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';

/** One parameter of a tool, as a model is told of it. */
export interface ToolParamDescription {
  readonly description?: string;
  /** JSON Schema's word for it, several joined by ` | `, or `any`. */
  readonly type: string;
  readonly default?: Json;
}

/** The parameters of `tool` by name, in the order of its schema. */
export function describeParameters(tool: Tool): ReadonlyMap<string, ToolParamDescription> {
  return tool.inputSchema === undefined ? new ReadOnlyMap() : describeInput(compileSchema(tool.inputSchema).jsonSchema);
}

/** The parameters that the JSON Schema of an input states. */
export function describeInput({ properties }: JsonObject): ReadonlyMap<string, ToolParamDescription> {
  if (!isPlainObject(properties)) return new ReadOnlyMap();
  return new ReadOnlyMap(Object.entries(properties).map(([name, property]) => [name, describeParameter(property)]));
}

/** The type that a JSON Schema states. */
export function describeType(schema: Json): string {
  if (!isPlainObject(schema)) return 'any';
  const { type, const: constant, enum: values, anyOf, oneOf } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) return type.join(' | ');
  if (constant !== undefined) return typeOf(constant);
  const types = Array.isArray(values) ? values.map(typeOf) : toList(anyOf ?? oneOf).map(describeType);
  return types.length === 0 || types.includes('any') ? 'any' : [...new Set(types)].join(' | ');
}

function describeParameter(schema: Json): ToolParamDescription {
  const type = describeType(schema);
  if (!isPlainObject(schema)) return Object.freeze({ type });
  const { description, default: fallback } = schema;
  return Object.freeze({
    ...(typeof description === 'string' ? { description } : {}),
    type,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
