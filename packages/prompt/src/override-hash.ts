import { digestJson, type Json } from '@holdfast/core';

/**
 * What an override is pinned to: SHA-256, in hex, of the JSON of what it replaces, without spaces and with keys in order. `null` of
 * `null`: there is nothing to replace.
 */
export async function hashOverridden(current: Json): Promise<string | null> {
  if (current === null) return null;
  return digestJson(current);
}
