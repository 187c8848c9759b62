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

/** One complaint of a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema made ready once. */
export interface CompiledSchema<Output = unknown> {
  /** Synchronous. Undeclared keys are refused, defaults are filled in; the value given is not changed. */
  validate(value: unknown): Validation<Output>;
  /**
   * Parses and validates text in one walk, where everything in it is plainly right. `undefined`: it has to be parsed and validated
   * with care, which may still find nothing wrong. `decoded`: as the text has it.
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
 * A plain JSON Schema with the code that checks values against it. `jsonSchema` of `@holdfast/schema/json` makes one. `Value` is the
 * author's word for what it describes.
 */
export interface JsonSchemaDefinition<Value = unknown> {
  readonly type: 'json-schema';
  readonly schema: JsonObject;
  compile(): CompiledSchema<Value>;
}

/** The schema of a tool, a slice or a section: `Input` before defaults, `Output` after. */
export type Schema<Output = unknown, Input = unknown> = StandardSchema<Input, Output> | JsonSchemaDefinition<Output>;
