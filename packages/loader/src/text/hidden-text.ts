// Controls, lone surrogates, formatting (bidi, zero-width, tags), characters that fonts need not show (fillers, joiners, the variation
// selectors that can smuggle whole texts), and a blank that is not a space; except the two that select an emoji's style.
const hidden = /[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}\u2800[\p{Default_Ignorable_Code_Point}--[\ufe0e\ufe0f]]]/v;
const hiddenEverywhere = new RegExp(hidden.source, 'gv');

const plain = /^[\x20-\x7e\n\t]*$/;

/** The first invisible character of `text`, as `U+200B`; line feeds and tabs are allowed. */
export function findHiddenCharacter(text: string): string | undefined {
  // Fast path for most texts; the other pattern is slow.
  if (plain.test(text)) return undefined;
  const found = hidden.exec(text.replace(/[\n\t]/g, ' '))?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** `text` on one line with invisible characters escaped, so that it cannot deceive a reader of the terminal. */
export function makeVisible(text: string): string {
  return text.replace(hiddenEverywhere, (character) => {
    if (character === '\n' || character === '\t') return ' ';
    return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
  });
}

// No empty name, `.` or `..` between slashes, no backslash, no drive, no control characters.
const pattern = /^(?!\/)(?:(?:^|\/)(?!\.{1,2}(?:\/|$))[^/\\:\p{Cc}]+)+$/u;

/** True if a relative path with `/` means the same file on every machine and stays inside its base folder. */
export function isPlainPath(path: string): boolean {
  return pattern.test(path);
}
