import type { LiteralPath } from '../parse/literal.ts';

/** `parameters.properties.city` for people; keys that are no plain words stand in brackets. */
export function showPath(path: LiteralPath): string {
  return path
    .map((key, index) => {
      if (/^[A-Za-z_$][\w$-]*$/.test(key)) return index === 0 ? key : `.${key}`;
      return /^\d+$/.test(key) ? `[${key}]` : `[${JSON.stringify(key)}]`;
    })
    .join('');
}
