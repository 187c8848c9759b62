const pieces = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|(?<![^\s;&|()])#[^\n]*|\\[\s\S]|[\s\S]/g;

/**
 * Whether a backslash ends a line anywhere but between two words or within single quotes, so that parsers may differ in what it joins.
 * It reads quotes itself, and takes no part of the parser's word.
 */
export function continuesOddly(text: string): boolean {
  if (!text.includes('\\\n')) return false;
  // What these quote, or where they end, depends on more than the text before.
  if (/`|\$'|<<|"[^"]*\$\(/.test(text)) return true;
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    if (piece.startsWith("'") || !(piece.includes('\\\n') || piece.endsWith('\\'))) continue;
    const end = index + piece.length;
    if (
      piece !== '\\\n' ||
      !/[ \t]/.test(text.charAt(index - 1)) ||
      !/[^\s#\\]/.test(text.slice(end).trimStart().charAt(0))
    )
      return true;
  }
  return false;
}
