import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A line of a developer's day, with the kind of work that it belongs to. */
export interface CommandLine {
  readonly command: string;
  readonly kind: string;
  /** A sensible person might want a question. */
  readonly maybe?: boolean;
}

const file = fileURLToPath(new URL('../../../../shared/data/commands.jsonl', import.meta.url));
// Drawn once, before a rule was written: `seen` may be looked at while writing rules, `aside` only counted.
const seed = 'facts-2026-11-24';

/** The lines in two halves; `undefined` where the shared folder is missing. */
export function commandHalves():
  | { readonly seen: readonly CommandLine[]; readonly aside: readonly CommandLine[] }
  | undefined {
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CommandLine);
  const drawn = lines
    .map((line, index) => ({ line, rank: createHash('sha256').update(`${seed}:${index}`).digest('hex') }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ line }) => line);
  const half = drawn.length / 2;
  return { seen: drawn.slice(0, half), aside: drawn.slice(half) };
}
