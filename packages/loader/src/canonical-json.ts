import { hash } from 'node:crypto';
import type { Json } from '@holdfast/core';

/** Equal text for equal JSON: the keys of every object in code unit order, nothing between the tokens. */
export function toCanonicalJson(value: Json): string {
  return JSON.stringify(sortKeys(value));
}

/** The same JSON with the keys of every object in code unit order. */
export function sortKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortKeys);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** SHA-256 in hexadecimal. */
export function hashJson(value: Json): string {
  return hash('sha256', toCanonicalJson(value));
}
