import { HoldfastError, type Json, type Redactor } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogEntry } from '../log/log.ts';
import { isEntry, isList, type Own, ownFields } from './fields.ts';

const toolName = /^[a-z0-9_-]{1,64}$/;
const errorCode = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * Removes the content of `entry`. Keeps type, ids, names, kinds, codes, decisions, times and counts, and an empty text or null for
 * required fields. With a redactor, arguments and values leave a keyed digest. Of other record types only the type remains.
 */
export function withoutContent(entry: LogEntry, redactor: Redactor | undefined): LogEntry {
  const kept = keepOwn(entry, ownFields.get(entry.type) ?? {}, redactor);
  // The first record declares the log's content mode.
  const first = entry.type === 'session-start' || entry.type === 'snapshot' ? { content: 'none' } : {};
  return { type: entry.type, ...first, ...(kept as { readonly [field: string]: Json }), ...digestsOf(entry, redactor) };
}

function digestsOf(
  { type, input, outcome }: LogEntry,
  redactor: Redactor | undefined,
): { readonly [field: string]: Json } {
  if (redactor?.digest === undefined || (type !== 'tool-call-start' && type !== 'tool-call-end')) return {};
  const value = isPlainObject(outcome) && outcome['kind'] === 'ok' ? (outcome['value'] as Json | undefined) : undefined;
  return {
    ...(input === undefined ? {} : { inputDigest: redactor.digest(input) }),
    ...(value === undefined ? {} : { valueDigest: redactor.digest(value) }),
  };
}

function keepOwn(json: Json, own: Own, redactor: Redactor | undefined): Json | undefined {
  if (own === true) return json;
  // Without masks the digest would let a reader guess the arguments.
  if (own === 'digest') return redactor === undefined ? '' : json;
  if (own === 'name') return typeof json === 'string' && toolName.test(json) ? json : undefined;
  if (own === 'code') return typeof json === 'string' && errorCode.test(json) ? json : undefined;
  if (own === 'text') return '';
  if (own === 'json') return null;
  if (own === 'object') return {};
  if (own === 'state') return undefined;
  if (own === 'record') return isEntry(json) ? withoutContent(json, redactor) : undefined;
  if (isList(own)) return Array.isArray(json) ? json.map((item) => keepOwn(item, own[0], redactor) ?? null) : undefined;
  if (!isPlainObject(json)) return undefined;
  const kept: Record<string, Json> = {};
  for (const [field, inner] of Object.entries(own)) {
    const value = Object.hasOwn(json, field) ? (json[field] as Json | undefined) : undefined;
    const rest = value === undefined ? undefined : keepOwn(value, inner, redactor);
    if (rest !== undefined) kept[field] = rest;
  }
  return kept;
}

/** @throws HoldfastError `options.invalid`: a misspelled `none` must not act as `full`. */
export function checkContent(content: unknown): void {
  if (content === undefined || content === 'full' || content === 'none') return;
  throw new HoldfastError('options.invalid', `\`content\` must be 'full' or 'none', got ${JSON.stringify(content)}.`);
}
