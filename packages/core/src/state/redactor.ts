import { isPlainObject, type Json, type JsonObject } from '../basics/json.ts';
import type { Operation, SessionEvent } from './slice.ts';

/**
 * Keeps secrets out of logs and out of what observers are told. Tools, policies and the callers of a run have the real values.
 * `createRedactor` of `@holdfast/session/redact` makes one, and `toRedactor` makes one of your own `redact` and `learn`. Masks have
 * one form: `[redacted:` and twelve hexadecimal digits and `]`. A program without a redactor has none of the code that masks.
 */
export interface Redactor {
  /** `json` with masks, or `json` itself when nothing in it is secret. What it has given it gives again unchanged. */
  redact(json: Json): Json;
  /** Lets `secret` be masked wherever it turns up from now on. */
  learn(secret: string): void;
  /** A keyed digest of `json`: equal for equal values, and of no use to who wants to guess them. */
  digest?(json: Json): string;
  /** Learns what `schema` marks as secret in the arguments of a call, text or value. They need not fit the schema. */
  learnArguments(schema: JsonObject | undefined, given: unknown): void;
  /** The same for what a tool returned: a result or a value. Learns nothing from what cannot be read. */
  learnReturned(schema: JsonObject, returned: unknown): void;
  /** A record or an event for observers, with masks in all that is content. The same object when nothing in it is secret. */
  maskRecord<Entry extends { readonly type: string }>(entry: Entry): Entry;
  /** An event as slices see it. */
  maskEvent(event: SessionEvent): SessionEvent;
  /** An operation as the slice of a policy sees it. A value that is not JSON stays, so that the slice refuses it. */
  maskOperation(operation: Operation): Operation;
  /** What `export` gives and `import` takes. Anything else stays, so that `import` refuses it. */
  maskExport<Data>(data: Data): Data;
}

/**
 * Keeps, sealed, what calls and plans that have not ended need and the log has only masks of. `sealedFiles` of
 * `@holdfast/session/redact` makes one. One process uses it at a time: the one that writes the session's log.
 */
export interface Vault {
  /** Keeps `text` under `name`, in place of what was there. It can only be read with the same `bound`. @throws what keeps it from that. */
  put(name: string, bound: string, text: string): void;
  /** `undefined`: there is nothing under that name, or it was sealed with another key, or for another `bound`. */
  get(name: string, bound: string): string | undefined;
  delete(name: string): void;
  names(): readonly string[];
}

const mask = /\[redacted:[0-9a-f]{12}\]/;

/** Whether a mask stands anywhere in `json`: what it was cannot be had back. */
export function hasMask(json: Json): boolean {
  if (typeof json === 'string') return mask.test(json);
  if (Array.isArray(json)) return json.some(hasMask);
  if (!isPlainObject(json)) return false;
  return Object.entries(json).some(([key, inner]) => mask.test(key) || hasMask(inner as Json));
}
