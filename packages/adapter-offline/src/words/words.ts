/** Lower case without plural and tense, so that forms of a word compare equal. Not for display: `write` gives `writ`. */
export function stemOf(word: string): string {
  let stem = word.toLowerCase().replace(/['’]s$/u, '');
  if (stem.length > 4 && stem.endsWith('ies')) stem = `${stem.slice(0, -3)}y`;
  else if (stem.length > 4 && /(?:s|x|z|ch|sh)es$/u.test(stem)) stem = stem.slice(0, -2);
  else if (stem.length > 3 && /[^siu]s$/u.test(stem)) stem = stem.slice(0, -1);
  const ended = /^(.*[aeiouy].*)(?:ing|ed)$/u.exec(stem)?.[1] ?? '';
  if (ended.length > 2) stem = ended.replace(/([bdgmnprt])\1$/u, '$1');
  if (stem.length > 5) stem = stem.replace(/is(e?)$/u, 'iz$1');
  return stem.length > 3 ? stem.replace(/e$/u, '').replace(/([^aeiou])y$/u, '$1i') : stem;
}

/** Splits an identifier (`camelCase`, `snake_case`, `kebab-case`) into lower-case words. */
export function splitName(name: string): readonly string[] {
  const words = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => word.toLowerCase());
}

/** The stems of a text, in order. */
export function stemsOf(text: string): readonly string[] {
  return splitName(text.replaceAll(/['’](?:s|t|re|ve)\b/gu, '')).map(stemOf);
}

const alike = [
  'folder directory',
  'file document',
  'mail email',
  'picture image photo',
  'source code',
  'workspace project',
].map((group) => group.split(' ').map(stemOf));

/** True if two nouns are synonyms. */
export function isAlike(left: string, right: string): boolean {
  return left === right || alike.some((group) => group.includes(left) && group.includes(right));
}

const functionWords: ReadonlySet<string> = new Set(
  (
    'a an the this that these those my our your his her me us you i we he she please kindly just now can could would will ' +
    'may might must shall should let lets to of in on at for from with by as into onto about via is are was were be been am do does ' +
    'did have has had want need like help hi hey hello ok okay thanks thank there here some so and then also current whose which'
  ).split(' '),
);

/** True for words that do not change the meaning of a request. */
export function isFunctionWord(lower: string): boolean {
  return functionWords.has(lower.replace(/['’](?:s|re|ve|d|ll|m)$/u, ''));
}

const limits: ReadonlySet<string> = new Set(
  (
    'not no never nothing none without except excluding exclude but unless if only instead than before after until till while or ' +
    'other else otherwise again neither nor cannot skip skipping'
  ).split(' '),
);

/** True for words that limit a request: "not", "except", "if". No request with one of them is understood. */
export function isLimit(lower: string): boolean {
  return limits.has(lower) || /n['’]t$/u.test(lower);
}

/** True for "all", "every": a quantity that the tool must support. */
export function isQuantifier(lower: string): boolean {
  return /^(?:all|any|each|every)$/u.test(lower);
}

/** True for pronouns. */
export function isPronoun(lower: string): boolean {
  return /^(?:its?|them|they|their|both)$/u.test(lower);
}

/** True for words that are never the object of a request. */
export function isGrammar(lower: string): boolean {
  return isFunctionWord(lower) || isLimit(lower) || isPronoun(lower) || isQuantifier(lower);
}
