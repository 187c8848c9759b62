/** A text is given to a model up to this many characters. */
export const maxShownCharacters = 50_000;

/** The lines of a text, each with its line end, so that joining them gives the text. The end of the last one adds no line. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}

/** The number of the line in which `offset` lies, counted from 1. */
export function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  for (let index = text.indexOf('\n'); index >= 0 && index < offset; index = text.indexOf('\n', index + 1)) line += 1;
  return line;
}

/** `1 file`, `2 files`. */
export function count(amount: number, word: string, plural: string = `${word}s`): string {
  return `${amount} ${amount === 1 ? word : plural}`;
}

/** Cuts a text for showing, without splitting a character in two. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
}
