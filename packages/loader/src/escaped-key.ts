/** Whether a key of valid JSON is written with a backslash. Linear; fast where there are few backslashes. */
export function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    // In valid JSON it stands in a string: the next quote that no backslash belongs to ends it.
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
    if (text[at] === ':') return true;
  }
  return false;
}
