import { splitPath } from './path.ts';
import type { Places } from './places.ts';
import { isWildcard, matchesWildcard, readWildcard, type Wildcard } from './wildcard.ts';

export interface GlobLimits {
  /** Names that may still be inspected; counts down. */
  names: number;
}

/**
 * The sorted paths that a shell pattern matches, spelled as in the pattern. `undefined` if the pattern,
 * a folder or the disk is unreadable.
 */
export function expandGlob(
  pattern: string,
  folder: string,
  { places, limits }: { readonly places: Places; readonly limits: GlobLimits },
): readonly string[] | undefined {
  const names = splitPath(pattern);
  let found: readonly string[] = [pattern.startsWith('/') ? '/' : ''];
  for (const name of names) {
    const matches = isWildcard(name) ? readWildcard(name) : withoutEscapes(name);
    if (matches === undefined) return undefined;
    const next: string[] = [];
    for (const start of found) {
      const inner = expandName(matches, { start, folder, places, limits });
      if (inner === undefined) return undefined;
      next.push(...inner);
    }
    found = next;
  }
  return found.toSorted();
}

interface Start {
  readonly start: string;
  readonly folder: string;
  readonly places: Places;
  readonly limits: GlobLimits;
}

function expandName(name: string | Wildcard, { start, folder, places, limits }: Start): readonly string[] | undefined {
  const prefix = start === '' || start === '/' ? start : `${start}/`;
  const here = start.startsWith('/') ? start : `${folder}/${start}`;
  if (typeof name === 'string') {
    return name === '..' || places.type(`${here}/${name}`) !== 'missing' ? [prefix + name] : [];
  }
  if (places.type(here) === 'missing' || places.type(here) === 'file') return [];
  const listed = places.list(here);
  if (listed === undefined) return undefined;
  limits.names -= listed.length;
  if (limits.names < 0) return undefined;
  const [first] = name;
  const takesHidden = first?.type === 'character' && first.character === '.';
  const names = takesHidden ? ['.', '..', ...listed] : listed.filter((other) => !other.startsWith('.'));
  return names.filter((other) => matchesWildcard(name, other)).map((other) => prefix + other);
}

function withoutEscapes(name: string): string {
  return name.replace(/\\(.)/gsu, '$1');
}
