/** One word of a text, with what is needed to compare it and to find it again. */
export interface Word {
  /** As it stands in the text. */
  readonly text: string;
  readonly lower: string;
  /** Two words with the same stem are the same word in another form. */
  readonly stem: string;
}

const cache = new Map<string, string>();

/** The lower-case word without plural, tense and British spelling. Never a word for people: `write` gives `writ`. */
export function stemOf(word: string): string {
  const known = cache.get(word);
  if (known !== undefined) return known;
  const stem = cutSuffixes(word.toLowerCase().replace(/['’]s$/u, ''));
  // A memo of a pure function; emptied rather than grown without end by a hostile stream of words.
  if (cache.size > 5000) cache.clear();
  cache.set(word, stem);
  return stem;
}

/** Names as programmers write them (`camelCase`, `snake_case`, `kebab-case`, `dotted.names`) cut into lower-case words. */
export function splitName(name: string): readonly string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}(?!s(?!\p{L}))\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());
}

/** Every word of running text, in order; names in it are cut as well. */
export function wordsOf(text: string): readonly Word[] {
  const found: Word[] = [];
  for (const part of text.slice(0, maxTextLength).match(/[\p{L}\p{N}_]+(?:['’-][\p{L}\p{N}_]+)*/gu) ?? []) {
    for (const word of /[_-]|\p{Ll}\p{Lu}/u.test(part) ? splitName(part) : [part]) found.push(toWord(word));
  }
  return found;
}

/** A single word, taken as it is. */
export function toWord(text: string): Word {
  return { text, lower: text.toLowerCase(), stem: stemOf(text) };
}

/** Words that say nothing about what is wanted. */
export function isStopWord(lower: string): boolean {
  return stopWords.has(lower.replace(/['’](?:s|re|ve|d|ll|m)$/u, ''));
}

const maxTextLength = 4000;

const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the this that these those my our your his her their its it them they i me we us you he she who whom and or but nor so ' +
    'of in on at to for from with by as into onto about via per than through is are was were be been being am do does did done ' +
    'has have had having can could would will shall should may might must please kindly just now also there here all any every ' +
    'each some both one ones no not if when while where what which how why hey hi hello ok okay want wants need needs like help ' +
    'let lets go using use used helps given based tool tools available current currently such only whether other first last top much many more most very set new'
  ).split(' '),
);

function cutSuffixes(lower: string): string {
  let stem = lower;
  if (stem.length > 4 && stem.endsWith('ies')) stem = `${stem.slice(0, -3)}y`;
  else if (stem.length > 4 && /(?:s|x|z|ch|sh)es$/u.test(stem)) stem = stem.slice(0, -2);
  else if (stem.length > 3 && /[^siu]s$/u.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 5 && /[aeiouy].*ing$/u.test(stem)) stem = undouble(stem.slice(0, -3));
  else if (stem.length > 4 && /[aeiouy].*ed$/u.test(stem)) stem = undouble(stem.slice(0, -2));
  if (stem.length > 5) stem = stem.replace(/is(e|ation)?$/u, 'iz').replace(/iz(?:e|ation)$/u, 'iz');
  return stem.length > 3 ? stem.replace(/e$/u, '').replace(/([^aeiou])y$/u, '$1i') : stem;
}

function undouble(stem: string): string {
  return /([bdgmnprt])\1$/u.test(stem) ? stem.slice(0, -1) : stem;
}
