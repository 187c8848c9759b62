/** Up to three names with the most similar spelling, nearest first. */
export function nearestNames(name: string, names: Iterable<string>): string[] {
  const wanted = name.slice(0, 64).toLowerCase();
  return [...names]
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 2))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance, one row at a time. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let left = 1; left <= from.length; left += 1) {
    const next = [left];
    for (let right = 1; right <= to.length; right += 1) {
      const replaced = (row[right - 1] ?? 0) + (from[left - 1] === to[right - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[right] ?? 0) + 1, (next[right - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
