import { isPlainObject, type Json, type JsonObject } from '../basics/json.ts';
import type { Outcome, OutcomeKind } from './outcome.ts';

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

/** What a log keeps of an outcome: the value once, and of long texts only what does not follow from it. Short ones are there as they are. */
export interface RecordedOutcome extends Omit<Outcome, 'value' | 'rendered' | 'text'> {
  /** Absent where somebody else has written the log. */
  readonly value?: Json;
  /** What a tool's own `renderResult` made of the value. */
  readonly rendered?: string | undefined;
  /** The value was kept out of the text. */
  readonly excluded?: true | undefined;
  /** The characters of the text that went to the model, where that was not all of it. */
  readonly maxResultChars?: number | undefined;
}

/** The fewest that `maxResultChars` may be: a message that explains a failure is never cut. */
export const minResultChars = 1_000;
const defaultMaxResultChars = 60_000;

/** The characters of a result that go to the model: the least that the runner and the tool say, default 60,000. */
export function maxResultCharsOf(runner: number | undefined, tool: number | undefined): number {
  if (runner === undefined || tool === undefined) return runner ?? tool ?? defaultMaxResultChars;
  return Math.min(runner, tool);
}

/** Whether a host or an author may set `maxResultChars` to `value`. */
export function isMaxResultChars(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= minResultChars);
}

/** The text of an outcome: the message, a blank line and what is shown of the value. Never empty. */
export function toOutcomeText(kind: OutcomeKind, message: string, shown: string): string {
  if (shown === '') return message === '' ? wordless(kind) : message;
  return message === '' ? shown : `${message}\n\n${shown}`;
}

// Providers refuse a tool message without text, and a model would take it for a mistake.
function wordless(kind: OutcomeKind): string {
  return kind === 'ok' ? 'Done.' : 'The tool gave no reason.';
}

/** At most `maxChars` of `text`: head and tail, and between them a sentence that says how much is missing. No pair of surrogates is cut. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // The longest that the sentence can be, so that the whole fits.
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
  // In a text or a list it only costs a second look.
  return text.includes(':null') && hasNullField(value) ? JSON.stringify(withoutNullFields(value)) : text;
}

/** The whole outcome again, from what a log has of it. Records of earlier versions have the texts themselves. Frozen. */
export function readOutcome(recorded: RecordedOutcome): Outcome {
  // Read from a log: JSON has left out what was undefined, and old records have more.
  const { kind, callId, name, code, message, value = null, attempts } = recorded;
  const { excluded, maxResultChars = Number.POSITIVE_INFINITY } = recorded;
  const { rendered = renderPlainly(kind, value), text }: { rendered?: string | undefined; text?: string } = recorded;
  const whole = text ?? toOutcomeText(kind, message, excluded === true ? '' : rendered);
  return Object.freeze({
    kind,
    callId,
    name,
    code,
    message,
    value,
    rendered,
    text: cutMiddle(whole, maxResultChars),
    attempts,
  });
}

/** The value as text where no `renderResult` has a say: the payload of a failure as it is. */
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

// Only fields are dropped: null as an item of a list is data.
function withoutNullFields(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNullFields);
  if (!isPlainObject(value)) return value;
  const kept = Object.entries(value as JsonObject).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNullFields(inner)]));
}
