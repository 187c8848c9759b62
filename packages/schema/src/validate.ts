import { isPlainObject } from '@holdfast/core/internal';
import type { StandardResult } from '@holdfast/core/types';
import { type Config, type GenericIssue, type GenericSchema, getGlobalConfig } from 'valibot';
import { maxIssues } from './bounded-issues.ts';
import type { CompiledSchema, SchemaIssue } from './compiled.ts';
import { type Node, type Place, readShape } from './undeclared.ts';

/** The steps of a validation; a valid value runs no other code of this package. */
export interface ValidationParts {
  /** The library's own validation. */
  readonly run: (value: unknown) => StandardResult<unknown>;
  readonly root: Node;
  /** The place of the whole value. */
  readonly start: Place;
  /** Keys that the library silently drops from open objects. */
  readonly dropped: ReadonlySet<string>;
  /** Transform the value before, and the result after, the library's validation. */
  readonly before: ((value: unknown) => unknown) | undefined;
  readonly after: ((value: unknown) => unknown) | undefined;
  /** Finds the issues and their places; runs only if the fast check found a problem. */
  readonly findIssues: (value: unknown, result: StandardResult<unknown>) => readonly SchemaIssue[];
}

export function createValidation(parts: ValidationParts): Pick<CompiledSchema, 'validate' | 'read'> {
  const { run, root, start, before, after, findIssues } = parts;
  return {
    validate(value) {
      const result = run(before === undefined ? value : before(value));
      const issues = result.issues === undefined && isClean(value, start, parts) ? none : findIssues(value, result);
      if (result.issues !== undefined || issues.length > 0) return { ok: false, issues };
      return { ok: true, value: after === undefined ? result.value : after(result.value) };
    },
    read(text) {
      // A key may contain an escape, and long texts have limits of their own.
      if (text.length > maxPlainChars || text.includes('\\') || before !== undefined) return undefined;
      let decoded: unknown;
      try {
        decoded = JSON.parse(text);
      } catch {
        return undefined;
      }
      const seen: Walk = { root, keys: 0 };
      // `JSON.parse` keeps the last of two equal keys: the text then has more keys than the value.
      if (!isPlain(decoded, start, seen) || countColons(text) !== seen.keys) return undefined;
      const result = run(decoded);
      if (result.issues !== undefined) return undefined;
      return { value: after === undefined ? result.value : after(result.value), decoded };
    },
  };
}

const none: readonly SchemaIssue[] = Object.freeze([]);

/** Texts up to this length cannot exceed the limits on keys and depth. */
const maxPlainChars = 8_192;

function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

interface Walk {
  readonly root: Node;
  /** Keys seen so far. */
  keys: number;
}

/**
 * True if every key of a parsed value is declared and its numbers are exact. Counts keys. A part where anything is
 * allowed is not inspected, so not plain.
 */
function isPlain(value: unknown, place: Place, walk: Walk): boolean {
  if (typeof value === 'number') return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;
  if (typeof value !== 'object' || value === null) return true;
  if (place.nodes.length === 0) return false;
  place.shape ??= readShape(place.nodes, walk.root);
  const { shape } = place;
  if (Array.isArray(value)) {
    if (shape.objectsOnly) return false;
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item !== 'string' && !isPlain(item, shape.prefix[index] ?? shape.items, walk)) return false;
    }
    return true;
  }
  if (shape.leaf || shape.open || shape.patterns.length > 0 || shape.inherited.length > 0) return false;
  const object = value as Readonly<Record<string, unknown>>;
  // From `JSON.parse`, so all keys are own keys.
  for (const key in object) {
    const inner = shape.keys.get(key);
    if (inner === undefined) return false;
    walk.keys += 1;
    const member = object[key];
    if (typeof member !== 'string' && !isPlain(member, inner, walk)) return false;
  }
  return true;
}

/** True if no key is undeclared. Nearly all values are clean and need no places. */
function isClean(value: unknown, place: Place, walk: Pick<ValidationParts, 'root' | 'dropped'>): boolean {
  if (typeof value !== 'object' || value === null || place.nodes.length === 0) return true;
  place.shape ??= readShape(place.nodes, walk.root);
  const { shape } = place;
  if (Array.isArray(value)) {
    if (shape.objectsOnly) return false;
    if (shape.leaf) return true;
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item === 'object' && !isClean(item, shape.prefix[index] ?? shape.items, walk)) return false;
    }
    return true;
  }
  if (shape.leaf || !isPlainObject(value)) return true;
  // Rare; the walk with places handles it.
  if (shape.patterns.length > 0 || shape.inherited.length > 0) return false;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const inner = shape.keys.get(key);
    if (inner === undefined && (!shape.open || walk.dropped.has(key))) return false;
    const member = value[key];
    if (typeof member === 'object' && !isClean(member, inner ?? shape.rest, walk)) return false;
  }
  return true;
}

/** The `validate` of a valibot schema, stopped after some issues: an argument can hold a very long list of wrong items. */
export function validateBounded(schema: GenericSchema): (value: unknown) => StandardResult<unknown> {
  const config = new BoundedConfig();
  // Same as the schema's own `validate`, with a custom configuration.
  return (value) => schema['~run']({ value }, config.begin()) as StandardResult<unknown>;
}

/** Asks valibot to abort once `abortEarly` was read often enough: valibot reads it on every issue, and only then. */
class BoundedConfig implements Config<GenericIssue> {
  lang: string | undefined;
  message: Config<GenericIssue>['message'];
  abortPipeEarly: boolean | undefined;
  #abortEarly: boolean | undefined;
  #asked = 0;

  begin(): this {
    ({
      lang: this.lang,
      message: this.message,
      abortPipeEarly: this.abortPipeEarly,
      abortEarly: this.#abortEarly,
    } = getGlobalConfig());
    this.#asked = 0;
    return this;
  }

  get abortEarly(): boolean {
    this.#asked += 1;
    // Valibot reads it at least twice per issue: for the value and for its container.
    return this.#abortEarly === true || this.#asked > 2 * maxIssues;
  }
}
