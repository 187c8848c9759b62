import { hash } from 'node:crypto';
import { type Json, toCanonicalJson } from '@holdfast/core';

/** SHA-256 of the canonical text, in hexadecimal. */
export function hashJson(value: Json): string {
  return hash('sha256', toCanonicalJson(value));
}
