import type { Json, JsonObject, Tool } from '@holdfast/core';

/**
 * The value as text: the tool's own rendering, or compact JSON without null fields; empty for null.
 *
 * @throws what `renderResult` throws, and TypeError where it answers with anything but a string.
 */
export function renderValue(tool: Tool, value: Json): string {
  if (value === null) return '';
  if (tool.renderResult === undefined) return renderJson(value);
  const rendered: unknown = tool.renderResult(value);
  if (typeof rendered === 'string') return rendered;
  // The rejection of a promise, which nobody will hear, must not end the process.
  void Promise.allSettled([rendered]);
  throw new TypeError(`renderResult must return a string, got ${typeof rendered}.`);
}

/** The value as compact JSON without null fields. */
export function renderJson(value: Json): string {
  return hasNullField(value) ? JSON.stringify(withoutNullFields(value)) : JSON.stringify(value);
}

function hasNullField(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasNullField);
  const object = value as JsonObject;
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    const inner = object[key] ?? null;
    if (inner === null || (typeof inner === 'object' && hasNullField(inner))) return true;
  }
  return false;
}

// Only fields are dropped: null as an item of a list is data.
function withoutNullFields(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNullFields);
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNullFields(inner)]));
}
