/** The kind of a part of a request, by its form. */
export type ValueKind = 'quoted' | 'url' | 'email' | 'date' | 'glob' | 'ending' | 'path' | 'code' | 'number';

/** A part of a request that can be an argument unchanged: `start` inclusive, `end` exclusive. */
export interface PlacedValue {
  readonly kind: ValueKind;
  /** Without quotation marks; a number for `number`. */
  readonly value: string | number;
  readonly start: number;
  readonly end: number;
}

type Rule = readonly [kind: ValueKind, pattern: RegExp, isValue?: (said: string) => boolean];

// The groups `lead` and `rest` surround a value without being part of it.
const lead = String.raw`(?<lead>^|[\s(,:=])`;
const rest = String.raw`(?<rest>[.,;:!?)]*(?=\s|$))`;
const between = (pattern: string): RegExp => new RegExp(`${lead}${pattern}${rest}`, 'gu');

const rules: readonly Rule[] = [
  // An apostrophe inside a word is not a quotation mark.
  ...['""', '``', '“”', "''", '‘’'].map(
    ([open, close]): Rule => [
      'quoted',
      new RegExp(`(?<![\\p{L}\\p{N}])${open}[^${close}\\n]{1,4000}${close}(?![\\p{L}\\p{N}])`, 'gu'),
    ],
  ),
  ['url', /\bhttps?:\/\/[^\s"'<>]+?(?<rest>[.,;:!?)]*(?=\s|$|["'<>]))/gu],
  ['email', /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/gu],
  ['date', /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?\b/gu],
  // A single question mark ends a sentence.
  [
    'glob',
    between(String.raw`[\p{L}\p{N}_.\-/@]*[*?{][\p{L}\p{N}_.\-/*?[\]{},!]*?`),
    (said) => /[*{]|\?./u.test(said) && said.length > 1,
  ],
  ['ending', between(String.raw`\.[a-z][a-z0-9]{0,3}`), (said) => said !== '.env'],
  ['path', between(String.raw`(?:~|\.{1,2})?\/?[\p{L}\p{N}_@.+-]+(?:\/[\p{L}\p{N}_@.+-]+)*\/?(?<!\.)`), isPath],
  // Letters with digits, identifiers, paths into data: `QX7781`, `read_file`, `ports[0]`, `a.b.c`.
  [
    'code',
    /(?<![\p{L}\p{N}_])(?:[\p{L}_][\p{L}\p{N}_]*(?:(?:\.[\p{L}\p{N}_]+|\[\d+\])+)|\p{L}+(?:_[\p{L}\p{N}]+)+|\p{Ll}+(?:\p{Lu}[\p{Ll}\p{N}]+)+|\p{L}[\p{L}-]*\d[\p{L}\p{N}-]*)(?![\p{L}\p{N}_])/gu,
  ],
  ['number', /(?<![\p{L}\p{N}_.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\p{L}\p{N}_])/gu],
];

/**
 * Finds the quoted texts, addresses, dates, patterns, paths, codes and numbers of a request, in order and without
 * overlap. The first matching kind in this list wins. Only the digits of a number are converted.
 */
export function findValues(text: string): readonly PlacedValue[] {
  const found: PlacedValue[] = [];
  const taken = new Uint8Array(text.length);
  for (const [kind, pattern, isValue = () => true] of rules) {
    for (const match of text.matchAll(pattern)) {
      const start = match.index + (match.groups?.['lead']?.length ?? 0);
      const end = match.index + match[0].length - (match.groups?.['rest']?.length ?? 0);
      const said = text.slice(start, end);
      if (end <= start || taken.subarray(start, end).includes(1) || !isValue(said)) continue;
      taken.fill(1, start, end);
      const number = Number(said.replaceAll(',', ''));
      found.push({
        kind,
        value: kind === 'quoted' ? said.slice(1, -1) : kind === 'number' ? number : said,
        start,
        end,
      });
    }
  }
  return found.sort((left, right) => left.start - right.start);
}

/** True if a text has the form of a file or folder. */
export function isPath(said: string): boolean {
  if (!/\p{L}/u.test(said) || /^(?:e\.g|i\.e|etc|and\/or|a\.m|p\.m)$/iu.test(said)) return false;
  if (said.includes('/') || /^\.[a-z]+$/u.test(said)) return true;
  const ending = /.\.((?=[\p{L}\p{N}]*\p{L})[\p{L}\p{N}]{1,10})$/u.exec(said)?.[1]?.toLowerCase() ?? '';
  // "scripts.test" is a key, "notes.html" a file, "example.com" neither.
  return (ending !== '' && ending.length < 4 && !/^(?:com|org|net|io|dev)$/u.test(ending)) || longEndings.test(ending);
}

const longEndings =
  /^(?:json[lc]?|ya?ml|toml|html|java|scala|docx|xlsx|pptx|jpeg|webp|conf|config|lock|bash|text|ipynb|markdown)$/u;
