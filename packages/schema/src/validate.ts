import { isPlainObject, type StandardResult } from '@holdfast/core';
import { type Config, type GenericIssue, type GenericSchema, getGlobalConfig } from 'valibot';
import { maxIssues } from './bounded-issues.ts';
import type { CompiledSchema, SchemaIssue } from './compiled.ts';
import { type Node, type Place, readShape } from './undeclared.ts';

/** What every validation goes through: nothing else of this package runs as long as values are right. */
export interface ValidationParts {
  /** The library's own. */
  readonly run: (value: unknown) => StandardResult<unknown>;
  readonly root: Node;
  /** Of the whole value. */
  readonly start: Place;
  /** Keys that the library leaves out, without a word, where any key may stand. */
  readonly dropped: ReadonlySet<string>;
  /** What the library is given in place of the value, and what is made of its answer. */
  readonly before: ((value: unknown) => unknown) | undefined;
  readonly after: ((value: unknown) => unknown) | undefined;
  /** What is wrong, with its places; asked where something seems to be. */
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
      // An escape may stand in a key, and a long text has limits of its own.
      if (text.length > maxPlainChars || text.includes('\\') || before !== undefined) return undefined;
      let decoded: unknown;
      try {
        decoded = JSON.parse(text);
      } catch {
        return undefined;
      }
      const seen: Walk = { root, keys: 0 };
      // `JSON.parse` keeps the last of two equal keys: then the text has more of them than the value.
      if (!isPlain(decoded, start, seen) || countColons(text) !== seen.keys) return undefined;
      const result = run(decoded);
      if (result.issues !== undefined) return undefined;
      return { value: after === undefined ? result.value : after(result.value), decoded };
    },
  };
}

const none: readonly SchemaIssue[] = Object.freeze([]);

/** Texts up to here have no more keys and levels than any limit allows. */
const maxPlainChars = 8_192;

function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

interface Walk {
  readonly root: Node;
  /** Keys that were met. */
  keys: number;
}

/**
 * Whether a value from JSON is all declared, with numbers that are what the text says. Counts its keys. What is not looked into, since
 * anything may stand there, is not plain.
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
  // From `JSON.parse`: there are no other keys than its own.
  for (const key in object) {
    const inner = shape.keys.get(key);
    if (inner === undefined) return false;
    walk.keys += 1;
    const member = object[key];
    if (typeof member !== 'string' && !isPlain(member, inner, walk)) return false;
  }
  return true;
}

/** Whether there is nothing undeclared. Nearly all values are clean, and then nobody needs to know where anything is. */
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
  // Rare, and left to the walk that knows the places.
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

/** The `validate` of a valibot schema, which gives up after some issues: a list may have as many wrong items as fit into an argument. */
export function validateBounded(schema: GenericSchema): (value: unknown) => StandardResult<unknown> {
  const config = new BoundedConfig();
  // As its own `validate` does, with another configuration.
  return (value) => schema['~run']({ value }, config.begin()) as StandardResult<unknown>;
}

/** Asks to stop when it has been asked often whether to: valibot asks at every issue, and at nothing else. */
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
    // For an issue it is asked twice at least: by what has it, and by what that is in.
    return this.#abortEarly === true || this.#asked > 2 * maxIssues;
  }
}
