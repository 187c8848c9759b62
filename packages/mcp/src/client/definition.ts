import { hash } from 'node:crypto';
import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, toCanonicalJson } from '@holdfast/core/internal';

/** A tool, resource or prompt as its server lists it. */
export interface McpDefinition {
  /** The server's own name for it; the URI of a resource. */
  readonly name: string;
  /** As listed, with keys that Holdfast does not know. */
  readonly listed: JsonObject;
  /** SHA-256 of everything listed, in hex. */
  readonly digest: string;
}

/** `id`: the key of its name. */
export function toDefinition(listed: JsonObject, id = 'name'): McpDefinition | undefined {
  const name = listed[id];
  return typeof name === 'string' ? { name, listed, digest: hash('sha256', toCanonicalJson(listed)) } : undefined;
}

/** The annotations of a tool. They are hints of the server, which may be wrong or lie. */
export interface Hints {
  readonly readOnly: boolean | undefined;
  readonly idempotent: boolean | undefined;
  readonly destructive: boolean | undefined;
}

export function readHints({ annotations }: JsonObject): Hints {
  const hint = (key: string): boolean | undefined => {
    const value = isPlainObject(annotations) ? annotations[key] : undefined;
    return typeof value === 'boolean' ? value : undefined;
  };
  return { readOnly: hint('readOnlyHint'), idempotent: hint('idempotentHint'), destructive: hint('destructiveHint') };
}

export function readText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

export function readObject(value: Json | undefined): JsonObject | undefined {
  return isPlainObject(value) ? (value as JsonObject) : undefined;
}
