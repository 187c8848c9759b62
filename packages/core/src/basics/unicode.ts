/**
 * An expression with Unicode classes (`\p{L}`), compiled on first use: building the classes takes milliseconds, and a literal builds
 * them when its module is parsed, used or not.
 */
export function unicodePattern(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

/** True if the text contains a control character, the class `\p{Cc}`. */
export function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  }
  return false;
}

/** True if the text contains neither a control character nor a line separator. */
export function isOneLine(text: string): boolean {
  return !hasControl(text) && !/[\u2028\u2029]/.test(text);
}
