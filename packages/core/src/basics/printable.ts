import { unicodePattern } from './unicode.ts';

// Everything that a terminal would obey or that a reader cannot see: controls, marks of direction, zero-width and tag characters, lone
// surrogates, noncharacters, the blank Braille pattern. U+FE0F stays where it turns a sign into an emoji or a digit into a keycap;
// elsewhere it is invisible.
const hidden =
  '(?!(?<=\\p{Extended_Pictographic})\\u{FE0F}|(?<=[0-9#*])\\u{FE0F}\\u{20E3})[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u{2800}]';

/** Each character that `toPrintable` shows as an escape. */
export const unprintable: () => RegExp = unicodePattern(hidden, 'gu');
const unprintableInBlock = unicodePattern(`(?![\\n\\t])${hidden}`, 'gu');

/** One line that is safe to print: whatever a terminal would obey or hide is shown as an escape such as `\u{202e}`, line breaks too. */
export function toPrintable(text: string): string {
  return text.replaceAll(unprintable(), escapeCharacter);
}

/** As `toPrintable`, but line breaks and tabs stay. */
export function toPrintableBlock(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(unprintableInBlock(), escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
