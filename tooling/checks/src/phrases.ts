import type { Repository } from './repository.ts';

// Each pattern avoids finding its own line.
const phrases: readonly (readonly [pattern: RegExp, better: string])[] = [
  [/\bgo(?:es|ne|ing)? on with\b/i, 'resume, continue'],
  [/\bwho[e]ver\b/i, 'name who: the caller, the host'],
  [/(?:^|[^\w`'",])What[e]ver\b/, 'any, every; or name the thing'],
  [
    /(?<!\bthere )\b(?:is|are|was|were) n[o] (?!longer\b|more\b|such\b|different\b|better\b|way\b|\d)[a-z`]/i,
    'is not a, unknown',
  ],
  [/\bha(?:s|ve) to be as[k]ed\b/, 'needs approval'],
  [/\bsome[b]ody\b/i, 'a person, the caller; or the passive'],
  [/\bthat there (?:is|are)\b/, 'available, existing'],
  [/\bcannot be ha[d]\b/, 'is not available, is already in use'],
  [/\b(?:is|are) to b[e] /, 'must be, should be'],
  [/\berr[s]\b/, 'makes mistakes'],
  [/(?:\/\*\*|\/\/|^\s+\*) W[h]at /, 'a noun: "The fields that …"'],
  [/(?:\/\*\*|\/\/|^\s+\*) Wh[e]ther /, '"True if …"'],
  [/\bthat n[o]body\b|\bN[o]body (?!else\b)/, 'say who, or use the passive'],
  [/\bas it li[e]s\b|\bwhere it li[e]s\b/, 'in place, its location'],
  [/\bis n[o]t one\b(?! of\b)/, 'name the thing'],
  [/\b(?:is|are) t[o]ld (?:of|about)\b/, 'is notified, is reported'],
];

// Data of the model: a change of the text would need new weights or new figures.
const trainingData = [
  'training/frames/',
  'training/handmade/',
  'training/tiny_tools/side_remarks.json',
  'training/tiny_tools/vocabulary.json',
  'tests/models/tiny-flawed.gguf',
];

/** Unidiomatic phrases in code, comments and documents. */
export function findPhrases({ files }: Repository): string[] {
  return [...files].flatMap(([path, text]) =>
    trainingData.some((start) => path.startsWith(start)) ? [] : findPhrasesIn(path, text),
  );
}

export function findPhrasesIn(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) =>
    phrases.flatMap(([pattern, better]) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${path}:${index + 1}: \`${found[0].trim()}\`; better: ${better}`];
    }),
  );
}
