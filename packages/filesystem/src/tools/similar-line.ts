/** Only the first lines of longer files are searched, because the result is a hint. */
const maxLines = 20_000;
const maxCompared = 200;
const minSimilarity = 0.5;

/** The line of `text` most similar to the first non-trivial line of `wanted`. Lines count from 1. */
export function findSimilarLine(
  text: string,
  wanted: string,
): { readonly line: number; readonly text: string } | undefined {
  const target = wanted.split('\n').find((line) => line.trim() !== '');
  if (target === undefined) return undefined;
  const targetPairs = countPairs(normalise(target));
  let best: { readonly line: number; readonly text: string; readonly similarity: number } | undefined;
  for (const [index, line] of text.split('\n', maxLines).entries()) {
    const similarity = compare(targetPairs, countPairs(normalise(line)));
    if (similarity >= minSimilarity && similarity > (best?.similarity ?? 0)) {
      best = { line: index + 1, text: line.trim(), similarity };
    }
  }
  return best === undefined ? undefined : { line: best.line, text: best.text };
}

function normalise(line: string): string {
  return line.slice(0, maxCompared).trim().replaceAll(/\s+/gu, ' ').toLowerCase();
}

function countPairs(text: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  for (let index = 0; index < text.length; index += 1) {
    const pair = text.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** The share of letter pairs that two lines have in common (Dice's coefficient), 0 to 1. */
function compare(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0;
  let total = 0;
  for (const [pair, amount] of a) {
    common += Math.min(amount, b.get(pair) ?? 0);
    total += amount;
  }
  for (const amount of b.values()) total += amount;
  return total === 0 ? 0 : (2 * common) / total;
}
