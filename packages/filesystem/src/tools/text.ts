/** The maximum length of a text for a model, in characters. */
export const maxShownCharacters = 50_000;

/** The lines of a text with their line endings. A trailing line ending adds no line. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}

/** The line number of `offset`, from 1. */
export function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  for (let index = text.indexOf('\n'); index >= 0 && index < offset; index = text.indexOf('\n', index + 1)) line += 1;
  return line;
}

/** `1 file`, `2 files`. */
export function count(amount: number, word: string, plural: string = `${word}s`): string {
  return `${amount} ${amount === 1 ? word : plural}`;
}

/** The first of `items` that can be shown: at most `maxItems` and `maxShownCharacters`. */
export function takeShown<Item>(
  items: readonly Item[],
  maxItems: number,
  toText: (item: Item) => string,
): readonly Item[] {
  let length = 0;
  const end = items.slice(0, maxItems).findIndex((item) => {
    length += toText(item).length;
    return length > maxShownCharacters;
  });
  return items.slice(0, end < 0 ? maxItems : end);
}

/** The first `maxLength` characters, or one less to avoid splitting a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  const part = text.slice(0, maxLength);
  return part.length < text.length && !part.isWellFormed() ? part.slice(0, -1) : part;
}

/** Shortens a text for display without splitting a surrogate pair. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cut(text, maxLength)}…`;
}
