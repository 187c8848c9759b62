/** The name of `names` that is spelled most like `name`, if any is. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, 64);
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of names) {
    const distance = countEdits(wanted, candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

// Levenshtein distance, one row at a time.
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at += 1) {
      const [above = 0, diagonal = 0, left = 0] = [row[at + 1], row[at], next[at]];
      next.push(Math.min(above + 1, left + 1, diagonal + (from[index] === to[at] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
