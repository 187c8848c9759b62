import { isPlainObject, type Json } from '../basics/json.ts';

/**
 * Keeps secrets out of logs and out of what observers are told. Tools, policies and the callers of a run have the real values.
 * `createRedactor` of `@holdfast/session/redact` makes one; whoever writes another one puts masks of the same form in place of
 * secrets: `[redacted:` and twelve hexadecimal digits and `]`.
 */
export interface Redactor {
  /** `json` with masks, or `json` itself when nothing in it is secret. What it has given it gives again unchanged. */
  redact(json: Json): Json;
  /** Lets `secret` be masked wherever it turns up from now on. */
  learn(secret: string): void;
  /** A keyed digest of `json`: equal for equal values, and of no use to who wants to guess them. */
  digest?(json: Json): string;
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
