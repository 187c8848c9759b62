import { isPlainObject, type Json, type JsonObject } from '../basics/json.ts';
import type { Operation, SessionEvent } from './slice.ts';

/**
 * Keeps secrets out of logs and observers' events. Tools, policies and callers of a run have the real values. Created by `createRedactor`
 * of `@holdfast/session/redact`, or by `toRedactor` from your own `redact` and `learn`. A mask is `[redacted:`, twelve hexadecimal digits
 * and `]`. Programs without a redactor do not load the masking code.
 */
export interface Redactor {
  /** `json` with masks, or `json` itself if it has no secrets. Idempotent. */
  redact(json: Json): Json;
  /** Masks `secret` wherever it appears from now on. */
  learn(secret: string): void;
  /** A keyed digest of `json`: equal for equal values, and not guessable. */
  digest?(json: Json): string;
  /** Learns the secrets that `schema` marks in a call's arguments, text or value, valid or not. */
  learnArguments(schema: JsonObject | undefined, given: unknown): void;
  /** The same for a tool's return value or result. Ignores unreadable values. */
  learnReturned(schema: JsonObject, returned: unknown): void;
  /** A record or event with masks in all content. The same object if nothing is secret. */
  maskRecord<Entry extends { readonly type: string }>(entry: Entry): Entry;
  /** An event as slices see it. */
  maskEvent(event: SessionEvent): SessionEvent;
  /** An operation as a policy's slice sees it. Non-JSON values stay, so that the slice rejects them. */
  maskOperation(operation: Operation): Operation;
  /** Data of `export` for `import`. Invalid data stays, so that `import` rejects it. */
  maskExport<Data>(data: Data): Data;
}

/**
 * Keeps the sealed content of open calls and plans of which the log has only masks. Created by `sealedFiles` of
 * `@holdfast/session/redact`. Used by one process at a time: the writer of the session's log.
 */
export interface Vault {
  /** Stores `text` under `name`, replacing earlier text. It is readable only with the same `bound`. @throws if it cannot be stored. */
  put(name: string, bound: string, text: string): void;
  /** `undefined` if the name is unknown, or it was sealed with another key or `bound`. */
  get(name: string, bound: string): string | undefined;
  delete(name: string): void;
  names(): readonly string[];
}

const mask = /\[redacted:[0-9a-f]{12}\]/;

/** True if `json` contains a mask, whose original is lost. */
export function hasMask(json: Json): boolean {
  if (typeof json === 'string') return mask.test(json);
  if (Array.isArray(json)) return json.some(hasMask);
  if (!isPlainObject(json)) return false;
  return Object.entries(json).some(([key, inner]) => mask.test(key) || hasMask(inner as Json));
}
