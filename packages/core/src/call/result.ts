import { isPlainObject, type Json, type JsonObject } from '../basics/json.ts';
import type { Outcome, OutcomeKind } from './outcome.ts';

const brand: unique symbol = Symbol.for('holdfast.tool-result');

/** The result of a call, as reported by its tool. Created only by `toolOk` and `toolError`. */
export interface ToolResult<Value = unknown> {
  readonly [brand]: true;
  readonly success: boolean;
  /** For the model; may be empty on success. */
  readonly message: string;
  readonly value: Value | null;
  /** Keeps the value out of the model's text. Not a security boundary: the caller and the log see it. */
  readonly excludeValueFromContext: boolean;
  /** The tool's own error code. */
  readonly code: string | undefined;
  /** The finer kind of a failure. */
  readonly reason?: string | undefined;
}

/** Succeeds with `value`, which must be JSON that matches the tool's `outputSchema`. `message` is for the model. */
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

/** Fails the call: staged changes are discarded, and `message` and `value` (JSON) go to the model. `code` defaults to `tool.failed`. */
export function toolError(
  message: string,
  {
    code,
    reason,
    value = null,
  }: { readonly code?: string | undefined; readonly reason?: string | undefined; readonly value?: Json } = {},
): ToolResult<never> {
  // `never` makes a failure fit any success type; the value of a failure is not checked against `outputSchema`.
  return Object.freeze({
    [brand]: true as const,
    success: false,
    message,
    value: value as never,
    excludeValueFromContext: false,
    code,
    reason,
  });
}

/** True for values of `toolOk` and `toolError`, from any copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && brand in value;
}

/** An outcome as logged: the value once, and long texts only if they cannot be derived. */
export interface RecordedOutcome extends Omit<Outcome, 'value' | 'rendered' | 'text'> {
  /** Absent in logs of other programs. */
  readonly value?: Json;
  /** The text from the tool's `renderResult`. */
  readonly rendered?: string | undefined;
  /** The value was kept out of the text. */
  readonly excluded?: true | undefined;
  /** The characters that went to the model, if the text was cut. */
  readonly maxResultChars?: number | undefined;
}

/** The minimum of `maxResultChars`: a message that explains a failure is never cut. */
export const minResultChars = 1_000;
const defaultMaxResultChars = 60_000;

/** The characters of a result for the model: the minimum of the runner's and the tool's limits, default 60,000. */
export function maxResultCharsOf(runner: number | undefined, tool: number | undefined): number {
  if (runner === undefined || tool === undefined) return runner ?? tool ?? defaultMaxResultChars;
  return Math.min(runner, tool);
}

/** True if `value` is valid for `maxResultChars`. */
export function isMaxResultChars(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= minResultChars);
}

/** The text of an outcome: the message, a blank line and the shown part of the value. Never empty. */
export function toOutcomeText(kind: OutcomeKind, message: string, shown: string): string {
  if (shown === '') return message === '' ? wordless(kind) : message;
  return message === '' ? shown : `${message}\n\n${shown}`;
}

// Providers reject a tool message without text, and a model would consider it an error.
function wordless(kind: OutcomeKind): string {
  return kind === 'ok' ? 'Done.' : 'The tool gave no reason.';
}

/** Cuts `text` to `maxChars`: head and tail with a sentence about the missing part. Never splits a surrogate pair. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // The longest possible sentence, so that everything fits.
  const room = maxChars - describeMissing(text.length, text.length).length;
  const head = text.slice(0, Math.ceil(room * 0.75)).replace(openPair, '');
  const tail = text.slice(text.length - Math.floor(room * 0.25)).replace(restOfPair, '');
  return `${head}${describeMissing(text.length - head.length - tail.length, text.length)}${tail}`;
}

const openPair = /[\uD800-\uDBFF]$/;
const restOfPair = /^[\uDC00-\uDFFF]/;

function describeMissing(missing: number, all: number): string {
  return `\n\n[${missing} of ${all} characters are missing here. Ask for less to see all of it.]\n\n`;
}

/** The value as compact JSON without null fields; empty for null. */
export function renderJson(value: Json): string {
  if (value === null) return '';
  const text = JSON.stringify(value);
  // Inside a string or a list a match only costs a second look.
  return text.includes(':null') && hasNullField(value) ? JSON.stringify(withoutNullFields(value)) : text;
}

/** Restores an outcome from its record. Records of earlier versions contain the texts. Frozen. */
export function readOutcome(recorded: RecordedOutcome): Outcome {
  // From a log: JSON omits undefined fields, and old records have more.
  const { kind, callId, name, code, reason, message, value = null, attempts } = recorded;
  const { excluded, maxResultChars = Number.POSITIVE_INFINITY } = recorded;
  const { rendered = renderPlainly(kind, value), text }: { rendered?: string | undefined; text?: string } = recorded;
  const whole = text ?? toOutcomeText(kind, message, excluded === true ? '' : rendered);
  return Object.freeze({
    kind,
    callId,
    name,
    code,
    reason,
    message,
    value,
    rendered,
    text: cutMiddle(whole, maxResultChars),
    attempts,
  });
}

/** The value as text without `renderResult`: the payload of a failure unchanged. */
export function renderPlainly(kind: OutcomeKind, value: Json): string {
  if (kind === 'ok') return renderJson(value);
  return value === null ? '' : JSON.stringify(value);
}

function hasNullField(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasNullField);
  const object = value as JsonObject;
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    const inner = object[key] ?? null;
    if (inner === null || (typeof inner === 'object' && hasNullField(inner))) return true;
  }
  return false;
}

// Drops only fields: null as an item of a list is data.
function withoutNullFields(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNullFields);
  if (!isPlainObject(value)) return value;
  const kept = Object.entries(value as JsonObject).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNullFields(inner)]));
}
