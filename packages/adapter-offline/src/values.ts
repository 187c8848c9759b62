/** What a piece of a request is by its looks. */
export type ValueKind =
  | 'quoted'
  | 'url'
  | 'email'
  | 'date'
  | 'day'
  | 'time'
  | 'path'
  | 'glob'
  | 'code'
  | 'number'
  | 'formula'
  | 'capital'
  | 'phrase'
  | 'bare';

/** A piece of a request that can become an argument. */
export interface Value {
  readonly kind: ValueKind;
  readonly value: string | number;
  /** The singular word after a number, e.g. `minute` in "5 minutes"; it stays in the text as well. */
  readonly unit?: string;
}

/** A value with its place in the text: `start` inclusive, `end` exclusive. */
export interface PlacedValue extends Value {
  readonly start: number;
  readonly end: number;
}

interface Rule {
  readonly pattern: RegExp;
  /** `undefined`: this match is no value after all. */
  read(match: RegExpExecArray): Value | undefined;
}

/**
 * The quoted texts, addresses, dates, paths, codes, numbers and capitalised names of a request, in order and without
 * overlap. What looks like two things is the first of that list.
 */
export function findValues(text: string): readonly PlacedValue[] {
  const found: PlacedValue[] = [];
  const taken = new Uint8Array(text.length);
  for (const { pattern, read } of rules) {
    for (const match of text.matchAll(pattern)) {
      const start = match.index + (match.groups?.['lead']?.length ?? 0);
      const end = match.index + match[0].length - (match.groups?.['rest']?.length ?? 0);
      if (end <= start || taken.subarray(start, end).includes(1)) continue;
      const value = read(match);
      if (value === undefined) continue;
      taken.fill(1, start, end);
      found.push({ ...value, start, end });
    }
  }
  return found.sort((left, right) => left.start - right.start);
}

const months = 'january february march april may june july august september october november december'.split(' ');
const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const numberWords =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const tens = 'thirty forty fifty sixty seventy eighty ninety hundred'.split(' ');
const extensions: ReadonlyMap<string, string> = new Map([
  ['markdown', 'md'],
  ['typescript', 'ts'],
  ['javascript', 'js'],
  ['python', 'py'],
  ['text', 'txt'],
  ['json', 'json'],
  ['csv', 'csv'],
  ['yaml', 'yaml'],
]);

function quoted(open: string, close: string): Rule {
  return {
    // An apostrophe inside a word opens nothing.
    pattern: new RegExp(`(?<![\\p{L}\\p{N}])${open}([^${close}\\n]{1,2000})${close}(?![\\p{L}\\p{N}])`, 'gu'),
    read: (match) => ({ kind: 'quoted', value: match[1] ?? '' }),
  };
}

const rules: readonly Rule[] = [
  ...[quoted('"', '"'), quoted('`', '`'), quoted('“', '”'), quoted("'", "'"), quoted('‘', '’')],
  {
    pattern: /\b(?:https?|ftp|wss?):\/\/[^\s"'<>]+?(?<rest>[.,;:!?)]*(?=\s|$|["'<>]))/gu,
    read: (match) => ({ kind: 'url', value: withoutRest(match) }),
  },
  {
    pattern: /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/gu,
    read: (match) => ({ kind: 'email', value: match[0] }),
  },
  {
    pattern: /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?\b/gu,
    read: (match) => ({ kind: 'date', value: match[0] }),
  },
  {
    pattern: new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${month})\\.?(?:,? (\\d{4}))?\\b`, 'giu'),
    read: (match) => readDate(match[0], match[1], match[2], match[3]),
  },
  {
    pattern: new RegExp(`\\b(${month})\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?\\b`, 'giu'),
    read: (match) => readDate(match[0], match[2], match[1], match[3]),
  },
  {
    pattern:
      /\b(?:(?:next|last|this) )?(?:today|tomorrow|yesterday|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/giu,
    read: (match) => ({ kind: 'day', value: match[0] }),
  },
  {
    pattern: /(?<![\p{L}\p{N}])\(*\d+(?:\.\d+)?\)*(?:\s+[-+*/^]\s+\(*\d+(?:\.\d+)?\)*|[*+]\(*\d+(?:\.\d+)?\)*)+/gu,
    read: (match) => ({ kind: 'formula', value: match[0] }),
  },
  {
    pattern: /\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]m)?\b|\b(?:1[0-2]|[1-9]) ?[ap]m\b/giu,
    read: (match) => ({ kind: 'time', value: match[0] }),
  },
  {
    pattern:
      /(?<lead>^|[\s(,])(?:[\p{L}\p{N}_.\-/@]*[*?[{][\p{L}\p{N}_.\-/*?[\]{},!]*)(?<![,.;:!])(?<rest>[.,;:!?)]*(?=\s|$))/gu,
    read: (match) => readGlob(withoutRest(match).slice(match.groups?.['lead']?.length ?? 0)),
  },
  {
    // ".tmp files", "ending in .tmp", "with the extension .tmp"
    pattern:
      /(?<![\p{L}\p{N}])\.([a-z][a-z0-9]{0,7})(?= files?\b)|(?<=\b(?:(?:end|ends|ending) (?:in|with)|extensions?) )\.([a-z][a-z0-9]{0,7})\b/gu,
    read: (match) => ({ kind: 'glob', value: `**/*.${match[1] ?? match[2]}` }),
  },
  {
    pattern: /\b(markdown|typescript|javascript|python|text|json|csv|yaml)(?= files\b)/giu,
    read: (match) => ({ kind: 'glob', value: `**/*.${extensions.get((match[1] ?? '').toLowerCase())}` }),
  },
  {
    pattern:
      /(?<lead>^|[\s(,:=])(?:~|\.{1,2})?\/?[\p{L}\p{N}_@.+-]+(?:\/[\p{L}\p{N}_@.+-]+)*\/?(?<!\.)(?<rest>\.*(?=[\s,;:!?)]|$))/gu,
    read: (match) => readPath(withoutRest(match).slice(match.groups?.['lead']?.length ?? 0)),
  },
  {
    pattern: /\b(?:README|LICENSE|CHANGELOG|CONTRIBUTING|Makefile|Dockerfile)\b/gu,
    read: (match) => ({ kind: 'path', value: match[0] }),
  },
  {
    pattern: /\b[\p{L}\p{N}_.-]+(?= (?:folder|directory)\b)/gu,
    read: (match) =>
      /^(?:the|a|this|that|my|our|each|every|current|which|same|new|root)$/iu.test(match[0])
        ? undefined
        : { kind: 'path', value: match[0] },
  },
  {
    // Letters with digits, or a name as programmers write it.
    pattern:
      /(?<![\p{L}\p{N}])(?=[\p{L}\p{N}_-]*\d)(?=[\p{N}_-]*\p{L})[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)*|\b[\p{L}]+(?:_[\p{L}\p{N}]+)+\b|\b\p{Ll}+(?:\p{Lu}[\p{Ll}\p{N}]+)+\b|\b\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+\b/gu,
    read: (match) =>
      /^\d+(?:st|nd|rd|th|s|m|h|ms|kg|km|cm|mm|g|kb|mb|gb|min)$/iu.test(match[0])
        ? undefined
        : { kind: 'code', value: match[0] },
  },
  {
    pattern:
      /(?<![\p{L}\p{N}.])[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{N}])|(?<![\p{L}\p{N}.])[-+]?\d+(?:\.\d+)?(?!\p{N})/gu,
    read: (match) => readNumber(match[0], match.input.slice(match.index + match[0].length)),
  },
  {
    pattern: new RegExp(`\\b(?:${[...numberWords.slice(2), ...tens].join('|')})\\b`, 'giu'),
    read: (match) =>
      readNumber(String(numberOf(match[0].toLowerCase())), match.input.slice(match.index + match[0].length)),
  },
  {
    pattern: /(?<!^|[.!?]\s|[\p{L}\p{N}])\p{Lu}[\p{L}\p{N}'’]*(?:[ -]\p{Lu}[\p{L}\p{N}'’]*)*/gu,
    read: (match) =>
      match[0] === 'I' || /^I['’]/u.test(match[0])
        ? undefined
        : { kind: 'capital', value: match[0].replace(/['’]s?$/u, '') },
  },
];

function withoutRest(match: RegExpExecArray): string {
  const rest = match.groups?.['rest']?.length ?? 0;
  return rest === 0 ? match[0] : match[0].slice(0, -rest);
}

/** Full dates become ISO; without a year the words stay as they are, because a year would be invented. */
function readDate(raw: string, day = '', name = '', year?: string): Value | undefined {
  const number = Number(day);
  if (number < 1 || number > 31) return undefined;
  if (year === undefined) return { kind: 'date', value: raw };
  const index = months.findIndex((full) => full.startsWith(name.toLowerCase().slice(0, 3)));
  return { kind: 'date', value: `${year}-${String(index + 1).padStart(2, '0')}-${String(number).padStart(2, '0')}` };
}

function readGlob(raw: string): Value | undefined {
  // "suppliers[0].name" is a place in data, and no pattern of file names.
  if (/^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_]+|\[\d+\])*\[\d+\](?:\.[\p{L}\p{N}_]+|\[\d+\])*$/u.test(raw)) {
    return { kind: 'code', value: raw };
  }
  // A bare question mark ends a sentence.
  return /[*[{]|\?./u.test(raw) && raw.length > 1 ? { kind: 'glob', value: raw.replace(/[?,.;:!]$/u, '') } : undefined;
}

function readPath(path: string): Value | undefined {
  if (!/\p{L}/u.test(path) || /^(?:e\.g|i\.e|etc|and\/or|a\.m|p\.m)$/iu.test(path)) return undefined;
  if (/^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.(?:com|org|net|io|dev|edu|gov)$/iu.test(path))
    return { kind: 'url', value: path };
  const extension = /\.((?=[\p{L}\p{N}]*\p{L})[\p{L}\p{N}]{1,10})$/u.exec(path)?.[1]?.toLowerCase();
  if (path.includes('/')) return { kind: 'path', value: path };
  if (extension === undefined) return undefined;
  // "scripts.test" is a key, "notes.html" a file.
  return { kind: extension.length < 4 || longExtensions.has(extension) ? 'path' : 'code', value: path };
}

const longExtensions: ReadonlySet<string> = new Set(
  'json jsonl yaml toml html java scala swift docx xlsx pptx jpeg tiff webp webm conf config lock bash text gguf parquet ipynb markdown svelte wasm properties'.split(
    ' ',
  ),
);

function numberOf(word: string): number {
  const small = numberWords.indexOf(word);
  return small >= 0 ? small : (tens.indexOf(word) + 3) * 10;
}

function readNumber(raw: string, after: string): Value | undefined {
  const value = Number(raw.replaceAll(',', ''));
  if (!Number.isFinite(value)) return undefined;
  const unit = /^[ -]?(\p{L}+)/u.exec(after)?.[1]?.toLowerCase();
  return {
    kind: 'number',
    value,
    ...(unit === undefined ? {} : { unit: unit.length > 2 ? unit.replace(/s$/u, '') : unit }),
  };
}
