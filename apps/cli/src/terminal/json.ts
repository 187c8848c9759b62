import { unprintable } from './text.ts';

/**
 * JSON that is safe to print: what a terminal would obey or hide is written as `\\u` escapes, which leaves the value the same.
 * `indent`: spaces a level; without it all is on one line.
 */
export function toJsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  return text.replaceAll(unprintable, (character) => (character === '\n' ? '\n' : toEscapes(character)));
}

function toEscapes(character: string): string {
  // By code units: JSON has no escape for what lies beyond the first plane.
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}
