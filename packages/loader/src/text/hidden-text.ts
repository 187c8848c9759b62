// Controls, lone surrogates, formatting (bidi, zero-width, tags), whatever a font need not show (fillers, joiners, the variation
// selectors with which whole texts can be smuggled), and a blank that is no space; the two that choose an emoji's look stay.
const hidden = /[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}\u2800[\p{Default_Ignorable_Code_Point}--[\ufe0e\ufe0f]]]/v;
const hiddenEverywhere = new RegExp(hidden.source, 'gv');

const plain = /^[\x20-\x7e\n\t]*$/;

/** The first character of `text` that a reader would not see, as `U+200B`; line feeds and tabs are no such thing. */
export function findHiddenCharacter(text: string): string | undefined {
  // Most texts are, and the other pattern takes its time.
  if (plain.test(text)) return undefined;
  const found = hidden.exec(text.replace(/[\n\t]/g, ' '))?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** `text` on one line with everything invisible spelled out, so that a terminal cannot be made to lie. */
export function makeVisible(text: string): string {
  return text.replace(hiddenEverywhere, (character) => {
    if (character === '\n' || character === '\t') return ' ';
    return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
  });
}

// No empty name, `.` or `..` between the slashes, no backslash, no drive, nothing that a reader cannot see.
const pattern = /^(?!\/)(?:(?:^|\/)(?!\.{1,2}(?:\/|$))[^/\\:\p{Cc}]+)+$/u;

/** Whether a relative path with `/` means the same file on every machine, in the folder that it starts from. */
export function isPlainPath(path: string): boolean {
  return pattern.test(path);
}
