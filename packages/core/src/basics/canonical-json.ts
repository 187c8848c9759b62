import { isPlainObject, type Json } from './json.ts';
import { sha256 } from './sha256.ts';

/** Shorter texts are digested here: that takes less than handing them to the threads of Web Crypto. */
const shortLength = 4096;

/** The same JSON with the keys of every object in code unit order. */
export function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortKeys);
  if (!isPlainObject(value)) return value;
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([key, inner]) => [key, sortKeys(inner as Json)]));
}

/** Equal text for equal JSON: keys in code unit order, nothing between the tokens, lone surrogates escaped. */
export function toCanonicalJson(value: Json): string {
  // Most are in order already, and copying takes longer than looking.
  return JSON.stringify(isSorted(value) ? value : sortKeys(value));
}

function isSorted(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return (value as readonly Json[]).every(isSorted);
  if (!isPlainObject(value)) return true;
  let last: string | undefined;
  for (const key of Object.keys(value)) {
    if ((last !== undefined && last > key) || !isSorted(value[key] as Json)) return false;
    last = key;
  }
  return true;
}

/** SHA-256 of the canonical text, in hexadecimal. */
export async function digestJson(value: Json): Promise<string> {
  const text = toCanonicalJson(value);
  if (text.length < shortLength) return sha256(text);
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
