import type { JsonObject } from './json.ts';
import { deepFreeze } from './json.ts';

/**
 * The part of a Standard Schema that Holdfast uses; valibot, zod and others implement it.
 * Source: standardschema.dev, specification version 1.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a Standard Schema's `validate` answers. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One complaint of a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A plain JSON Schema, made by `jsonSchema`. `Value` is the author's word for what it describes. */
export interface JsonSchemaDefinition<Value = unknown> {
  readonly type: 'json-schema';
  readonly schema: JsonObject;
  readonly '~value'?: Value;
}

/** What may stand wherever a tool, a slice or a section takes a schema: `Input` as it comes, `Output` as it is after defaults. */
export type Schema<Output = unknown, Input = unknown> = StandardSchema<Input, Output> | JsonSchemaDefinition<Output>;

/** Wraps a plain JSON Schema so that it can stand where a schema library's schema can. It is only stored here. */
export function jsonSchema<Value = unknown>(schema: JsonObject): JsonSchemaDefinition<Value> {
  return Object.freeze({ type: 'json-schema', schema: deepFreeze(structuredClone(schema)) });
}
