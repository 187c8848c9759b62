import { type Json, renderJson, type Tool } from '@holdfast/core';

/**
 * The value as text: the tool's own rendering, or compact JSON without null fields; empty for null.
 *
 * @throws what `renderResult` throws, and TypeError where it answers with anything but a string.
 */
export function renderValue(tool: Tool, value: Json): string {
  if (value === null || tool.renderResult === undefined) return renderJson(value);
  const rendered: unknown = tool.renderResult(value);
  if (typeof rendered === 'string') return rendered;
  // The rejection of a promise, which nobody will hear, must not end the process.
  void Promise.allSettled([rendered]);
  throw new TypeError(`renderResult must return a string, got ${typeof rendered}.`);
}
