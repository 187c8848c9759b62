import type { Json } from '@holdfast/core';
import type { LiteralPath } from '../parse/literal.ts';
import type { Report } from './types.ts';

/** `parameters.properties.city` for people; keys that are no plain words stand in brackets. */
export function showPath(path: LiteralPath): string {
  return path
    .map((key, index) => {
      if (/^[A-Za-z_$][\w$-]*$/.test(key)) return index === 0 ? key : `.${key}`;
      return /^\d+$/.test(key) ? `[${key}]` : `[${JSON.stringify(key)}]`;
    })
    .join('');
}

/** `value` if it is one of `words`; reports `tool.KEY.invalid` for anything else that is there. */
export function oneOf<Word extends string>(
  value: Json | undefined,
  key: string,
  words: readonly Word[],
  report: Report,
): Word | undefined {
  if (value === undefined) return undefined;
  const word = words.find((one) => one === value);
  if (word === undefined) {
    report({
      code: `tool.${key}.invalid`,
      path: [key],
      message: `\`${key}\` must be ${words.join(', ')}, got \`${JSON.stringify(value)}\`.`,
      hint: 'Choose one of them, or leave the key out.',
    });
  }
  return word;
}
