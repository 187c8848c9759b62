import type { Json } from '@holdfast/core';
import type { Report } from './report.ts';

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
