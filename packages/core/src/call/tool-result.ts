import type { Json } from '../basics/json.ts';

const brand: unique symbol = Symbol.for('holdfast.tool-result');

/** How a tool says what came of a call. Made by `toolOk` and `toolError` only. */
export interface ToolResult<Value = unknown> {
  readonly [brand]: true;
  readonly success: boolean;
  /** For the model; may be empty on success. */
  readonly message: string;
  readonly value: Value | null;
  /** Keeps the value out of the model's text. No security boundary: the caller and the log see it. */
  readonly excludeValueFromContext: boolean;
  /** The tool's own code of a failure. */
  readonly code: string | undefined;
}

/** The call succeeded with `value`, which has to be JSON that the tool's `outputSchema` takes. `message` is for the model. */
export function toolOk<Value>(
  value: Value,
  message = '',
  { excludeValueFromContext = false }: { readonly excludeValueFromContext?: boolean } = {},
): ToolResult<Value> {
  return Object.freeze({
    [brand]: true as const,
    success: true,
    message,
    value,
    excludeValueFromContext,
    code: undefined,
  });
}

/** The call failed; everything it staged is dropped and `message` goes to the model, with `value`, which has to be JSON. `code` default `tool.failed`. */
export function toolError(
  message: string,
  { code, value = null }: { readonly code?: string; readonly value?: Json } = {},
): ToolResult<never> {
  // `never` lets a failure stand beside any success type; the value of a failure is not checked against `outputSchema`.
  return Object.freeze({
    [brand]: true as const,
    success: false,
    message,
    value: value as never,
    excludeValueFromContext: false,
    code,
  });
}

/** Whether `value` was made by `toolOk` or `toolError`, of any copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && brand in value;
}
