// Everything that a terminal would obey or that a reader cannot see: controls, marks of direction, zero-width and tag characters, lone
// surrogates. U+FE0F stays: it only makes a sign an emoji.
/** Each character that `toPrintable` shows as an escape. */
export const unprintable: RegExp =
  /(?!\u{FE0F})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const unprintableInBlock =
  /(?![\n\t]|\u{FE0F})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** One line that is safe to print: whatever a terminal would obey or hide is shown as an escape such as `\u{202e}`, line breaks too. */
export function toPrintable(text: string): string {
  return text.replaceAll(unprintable, escapeCharacter);
}

/** As `toPrintable`, but line breaks and tabs stay. */
export function toPrintableBlock(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(unprintableInBlock, escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
