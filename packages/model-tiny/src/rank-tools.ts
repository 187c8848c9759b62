/**
 * The tools' signatures, nearest to the request first, each behind a rank from 0 to 9 and a space: how many words of the request it has,
 * in halves, where a word that several tools have is shared among them. A network of five million parameters matches words badly
 * itself: of 314 requests written by hand, counting words alone finds the right tool in 217.
 *
 * The training does the same in `training/tiny_tools/nearness.py`; the tests hold both to `training/tests/ranks.json`.
 */
export function rankTools(signatures: readonly string[], request: string): readonly string[] {
  const having = new Map<string, number[]>();
  for (const [index, signature] of signatures.entries()) {
    for (const stem of toStems(signature)) {
      const indexes = having.get(stem);
      if (indexes === undefined) having.set(stem, [index]);
      else indexes.push(index);
    }
  }
  const weights = signatures.map(() => 0);
  for (const stem of toStems(request)) {
    const indexes = having.get(stem) ?? [];
    for (const index of indexes) weights[index] = (weights[index] ?? 0) + Math.floor(wordWeight / indexes.length);
  }
  return (
    signatures
      .map((signature, index) => ({ signature, weight: weights[index] ?? 0 }))
      // A sort keeps the order of what is equal.
      .toSorted((one, other) => other.weight - one.weight)
      .map(({ signature, weight }) => `${Math.min(highestRank, Math.ceil(weight / halfWord))} ${signature}`)
  );
}

/** Of one word; whole numbers, so that both languages come to the same sums. */
const wordWeight = 60;
const halfWord = wordWeight / 2;
const highestRank = 9;

/** They say nothing of what is wanted; the last four are types of parameters. */
const commonWords: ReadonlySet<string> = new Set(
  (
    'a an the of to in on for and or is it be that this with by at from i me my you we us our please do does can could would ' +
    'should what how much many get got have has not no are was string number integer boolean'
  ).split(' '),
);

/** Without the ending, `delete` and `deleting` are the same. */
const endings = ['ing', 'es', 'ed', 's', 'e'];
const shortestStem = 3;

function toStem(word: string): string {
  const ending = endings.find((one) => word.endsWith(one) && word.length - one.length >= shortestStem);
  return ending === undefined ? word : word.slice(0, -ending.length);
}

/** Also of the words within `readFile` and `read_file`. */
function toStems(text: string): ReadonlySet<string> {
  const words =
    text
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  return new Set(words.filter((word) => !commonWords.has(word)).map(toStem));
}
