import type { LiteralPath } from '../parse/literal.ts';

/** Formats a path for display, e.g. `parameters.properties.city`; keys that are not plain words are in brackets. */
export function showPath(path: LiteralPath): string {
  return path
    .map((key, index) => {
      if (/^[A-Za-z_$][\w$-]*$/.test(key)) return index === 0 ? key : `.${key}`;
      return /^\d+$/.test(key) ? `[${key}]` : `[${JSON.stringify(key)}]`;
    })
    .join('');
}
