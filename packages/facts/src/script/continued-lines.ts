const pieces = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|(?<![^\s;&|()])#[^\n]*|\\[\s\S]|[\s\S]/g;

/**
 * True if a backslash ends a line anywhere except between two words or within single quotes: parsers may differ there.
 * It reads quotes itself, and takes no part of the parser's word.
 */
export function continuesOddly(text: string): boolean {
  if (!text.includes('\\\n')) return false;
  // Their meaning depends on more than the text before them.
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
