import type { JsonObject } from './json.ts';

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

/** The result of a Standard Schema's `validate`. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** An issue reported by a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A compiled schema. */
export interface CompiledSchema<Output = unknown> {
  /** Synchronous. Rejects undeclared keys and fills in defaults; the given value is not changed. */
  validate(value: unknown): Validation<Output>;
  /**
   * Parses and validates text in one pass, if it is clearly valid. `undefined`: parse and validate it separately, which may still
   * succeed. `decoded`: the parsed text.
   */
  readonly read?: ((text: string) => { readonly value: Output; readonly decoded: unknown } | undefined) | undefined;
  /** The schema shown to models: closed objects have `additionalProperties: false`. Frozen. */
  readonly jsonSchema: JsonObject;
}

export type Validation<Output = unknown> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  /** `a.b[0]`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/**
 * A plain JSON Schema with its validation code, created by `jsonSchema` of `@holdfast/schema/json`. `Value` is the author's type for the
 * described values.
 */
export interface JsonSchemaDefinition<Value = unknown> {
  readonly type: 'json-schema';
  readonly schema: JsonObject;
  compile(): CompiledSchema<Value>;
}

/** The schema of a tool, a slice or a section: `Input` before defaults, `Output` after. */
export type Schema<Output = unknown, Input = unknown> = StandardSchema<Input, Output> | JsonSchemaDefinition<Output>;
