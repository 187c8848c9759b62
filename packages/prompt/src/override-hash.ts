import { isPlainObject, type Json } from '@holdfast/core';

/**
 * What an override is pinned to: SHA-256, in hex, of the JSON of what it replaces, without spaces and with keys in order. `null` of
 * `null`: there is nothing to replace.
 */
export async function hashOverridden(current: Json): Promise<string | null> {
  if (current === null) return null;
  // `JSON.stringify` escapes lone surrogates, which would all be the same in UTF-8.
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(toCanonical(current)));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The same text for equal JSON, whatever the order of its keys. */
function toCanonical(json: Json): string {
  return JSON.stringify(json, (_key, value: unknown) =>
    isPlainObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
