const maxWords = 64;
const maxDepth = 8;

/** Expands braces in a word as `bash` does; keeps quotes. `undefined` if there are too many words. Braces without effect stay. */
export function expandBraces(text: string, depth: number = 0): readonly string[] | undefined {
  if (depth > maxDepth) return undefined;
  const found = findBraces(text);
  if (found === undefined) return [text];
  const { start, end, commas } = found;
  const inner = text.slice(start + 1, end);
  const edges = [start, ...commas, end];
  const alternatives =
    commas.length > 0
      ? edges.slice(1).map((edge, index) => text.slice((edges[index] ?? 0) + 1, edge))
      : readRange(inner);
  if (alternatives === undefined) return undefined;
  const rest = expandBraces(text.slice(end + 1), depth + 1);
  if (rest === undefined) return undefined;
  const words: string[] = [];
  for (const alternative of alternatives) {
    const middle = commas.length > 0 ? expandBraces(alternative, depth + 1) : [alternative];
    for (const one of middle ?? []) for (const last of rest) words.push(text.slice(0, start) + one + last);
    if (middle === undefined || words.length > maxWords) return undefined;
  }
  return words;
}

interface Braces {
  readonly start: number;
  readonly end: number;
  readonly commas: readonly number[];
}

/** The first pair of braces that is expanded. Quoted braces, and those of `${`, are skipped. */
function findBraces(text: string): Braces | undefined {
  const open: { readonly start: number; readonly commas: number[]; readonly plain: boolean }[] = [];
  let best: Braces | undefined;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === "'" || character === '"' || character === '`') index = skipQuotes(text, index, character);
    else if (character === '{') open.push({ start: index, commas: [], plain: text[index - 1] !== '$' });
    else if (character === ',') open.at(-1)?.commas.push(index);
    else if (character === '}') {
      const braces = open.pop();
      if (braces === undefined || !braces.plain) continue;
      const isList = braces.commas.length > 0 || /^[^{},]+\.\.[^{},]+$/.test(text.slice(braces.start + 1, index));
      // Of nested braces, the outermost closed pair.
      if (isList && (best === undefined || braces.start < best.start)) {
        best = { start: braces.start, end: index, commas: braces.commas };
      }
      if (open.length === 0 && best !== undefined) return best;
    }
  }
  return best;
}

function skipQuotes(text: string, from: number, quote: string): number {
  for (let index = from + 1; index < text.length; index += 1) {
    if (text[index] === '\\' && quote !== "'") index += 1;
    else if (text[index] === quote) return index;
  }
  return text.length;
}

function readRange(inner: string): readonly string[] | undefined {
  const match = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(inner);
  if (match === null) return [`{${inner}}`];
  const [, from = '', to = '', by = '1'] = match;
  const isNumbers = /\d/.test(from) && /\d/.test(to);
  if (!isNumbers && (/\d/.test(from) || /\d/.test(to))) return [`{${inner}}`];
  const first = isNumbers ? Number(from) : from.charCodeAt(0);
  const last = isNumbers ? Number(to) : to.charCodeAt(0);
  const step = Math.max(1, Math.abs(Number(by)));
  const count = Math.floor(Math.abs(last - first) / step) + 1;
  if (count > maxWords) return undefined;
  const width = isNumbers && /^-?0\d|^-?0\d/.test(`${from}`) ? from.length : 0;
  return Array.from({ length: count }, (_, index) => {
    const value = first + (first <= last ? step : -step) * index;
    return isNumbers ? String(value).padStart(width, '0') : String.fromCharCode(value);
  });
}
