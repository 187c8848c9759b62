import { unprintable } from './text.ts';

/**
 * JSON that is safe to print: control and invisible characters become `\\u` escapes, which do not change the value.
 * `indent`: spaces per level; without it everything is on one line.
 */
export function toJsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  return text.replaceAll(unprintable(), (character) => (character === '\n' ? '\n' : toEscapes(character)));
}

function toEscapes(character: string): string {
  // By code unit: JSON has no escape for code points above U+FFFF.
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}
