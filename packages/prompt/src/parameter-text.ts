import { copyJson } from '@holdfast/core';

/**
 * How a parameter reads in a prompt: a string as it is, numbers and booleans in JavaScript's spelling, nothing for null and
 * undefined, a date in ISO form, a list of these joined by `, `, any other JSON as compact JSON. `undefined` for what has no
 * text: functions, class instances, invalid dates, cycles.
 */
export function toParameterText(value: unknown): string | undefined {
  const scalar = toScalarText(value);
  if (scalar !== undefined) return scalar;
  if (Array.isArray(value)) {
    const items = value.map(toScalarText);
    if (items.every((item) => item !== undefined)) return items.join(', ');
  }
  const copied = copyJson(value);
  return copied.ok ? JSON.stringify(copied.value) : undefined;
}

function toScalarText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'undefined':
      return '';
    case 'object':
      if (value === null) return '';
      return value instanceof Date && Number.isFinite(value.getTime()) ? value.toISOString() : undefined;
    case 'function':
    case 'symbol':
      return undefined;
  }
}
