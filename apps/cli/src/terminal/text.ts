export { toPrintable, toPrintableBlock, unprintable } from '@holdfast/core/internal';

const emoji = /\p{Emoji_Presentation}|\u{FE0F}/u;
const mark = /^[\p{Mn}\p{Me}]+$/u;
// East Asian wide and fullwidth blocks.
const wide =
  /[\u{1100}-\u{115F}\u{2E80}-\u{303E}\u{3041}-\u{A4CF}\u{A960}-\u{A97C}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{FFE0}-\u{FFE6}\u{16FE0}-\u{18DFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]/u;
const ascii = /^[\x20-\x7e]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Made for the first text that is not ASCII: it takes as long as everything else a short command does. */
function segment(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Terminal columns that printable text takes. */
export function measureColumns(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  for (const { segment: grapheme } of segment(text)) columns += measureGrapheme(grapheme);
  return columns;
}

function measureGrapheme(grapheme: string): number {
  if (mark.test(grapheme)) return 0;
  return emoji.test(grapheme) || wide.test(grapheme) ? 2 : 1;
}

/** True if `text` takes more than `columns`. Measures only as much as needed. */
export function isWider(text: string, columns: number): boolean {
  // A grapheme may be arbitrarily long, but none in real text is longer than this.
  if (text.length > columns * 16) return true;
  return measureColumns(text) > columns;
}

/** Cuts `text` to at most `columns`, with an ellipsis. */
export function fitColumns(text: string, columns: number): string {
  // A grapheme has at least one code unit, so a much longer text need not be measured whole.
  const head = text.length > columns * 16 ? text.slice(0, columns * 16) : text;
  if (head === text && !isWider(text, columns)) return text;
  if (columns < 1) return '';
  if (ascii.test(head)) return `${head.slice(0, columns - 1)}…`;
  let fitted = '';
  let used = 0;
  for (const { segment: grapheme } of segment(head)) {
    used += measureGrapheme(grapheme);
    if (used > columns - 1) break;
    fitted += grapheme;
  }
  return `${fitted}…`;
}

/** Cuts or pads `text` to exactly `columns`. */
export function padColumns(text: string, columns: number): string {
  const fitted = fitColumns(text, columns);
  return fitted + ' '.repeat(Math.max(0, columns - measureColumns(fitted)));
}

/** The first `maxLines` of `text` in lines of at most `columns`, broken at blanks if possible. */
export function wrapColumns(text: string, columns: number, maxLines: number): readonly string[] {
  const width = Math.max(10, columns);
  const lines: string[] = [];
  let line = '';
  // A longer text fills the lines in any case.
  for (const word of text.slice(0, width * 16 * maxLines).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (!isWider(longer, width)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    if (lines.length === maxLines) return lines;
    line = fitColumns(word, width);
  }
  return [...lines, line];
}

/**
 * Breaks long lines of `text` at blanks and indents continuation lines like the line itself. A word that is too long stays whole,
 * so that paths and URLs can be copied.
 */
export function wrapBlock(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (columns === Number.POSITIVE_INFINITY || !isWider(line, columns)) return [line];
    const [indent = ''] = /^\s*(?:[-*] )?/.exec(line) ?? [];
    const lines: string[] = [];
    let current = indent;
    let isEmpty = true;
    for (const word of line.slice(indent.length).split(' ')) {
      if (!isEmpty && isWider(`${current} ${word}`, columns)) {
        lines.push(current);
        current = ' '.repeat(indent.length);
        isEmpty = true;
      }
      current += isEmpty ? word : ` ${word}`;
      isEmpty = false;
    }
    return [...lines, current];
  });
}

/** Like `wrapColumns` without a limit, but loses nothing: without a blank to break at, it breaks anywhere. */
export function wrapWhole(text: string, columns: number): readonly string[] {
  const lines = wrapColumns(text, columns, Number.POSITIVE_INFINITY);
  const isWhole = lines.join(' ') === text && lines.every((line) => !isWider(line, columns));
  return isWhole ? lines : splitColumns(text, columns);
}

/** Splits `text` into pieces of at most `columns`, anywhere. */
export function splitColumns(text: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  if (ascii.test(text)) {
    for (let start = 0; start === 0 || start < text.length; start += columns)
      pieces.push(text.slice(start, start + columns));
    return pieces;
  }
  let piece = '';
  let used = 0;
  for (const { segment: grapheme } of segment(text)) {
    const size = measureGrapheme(grapheme);
    if (used + size > columns) {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += grapheme;
    used += size;
  }
  return [...pieces, piece];
}

/** `2.6 MB`, in decimal units. */
export function formatBytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A size, `340 B` or `1.2 kB`, in decimal units. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : formatBytes(bytes);
}
