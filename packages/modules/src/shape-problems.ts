import type { SchemaIssue } from '@holdfast/schema';
import { type ModuleProblem, problemAt } from './module-problem.ts';

const maxPlaceLength = 200;

/** What a schema found, for people. Places hold keys that somebody else wrote, and not more of them than can be read. */
export function toProblems(
  issues: readonly SchemaIssue[],
  { code, keys, below = '' }: { readonly code: string; readonly keys?: readonly string[]; readonly below?: string },
): readonly ModuleProblem[] {
  const found: ModuleProblem[] = [];
  const places = new Set<string>();
  for (const { path, message } of issues) {
    const separator = below === '' || path === '' || path.startsWith('[') ? '' : '.';
    const place = `${below}${separator}${path}`.slice(0, maxPlaceLength);
    // A wrong type is told of twice: as a value that cannot have keys, and as one of another type.
    if (message.startsWith('Instance type ') && places.has(place)) continue;
    places.add(place);
    const isOwnKey = message === unknownKey && keys !== undefined && !/[.[]/.test(path);
    const text = isOwnKey ? `${message} The keys here are ${keys.map((key) => `\`${key}\``).join(', ')}.` : message;
    found.push(problemAt(place, code, text));
  }
  return found;
}

const unknownKey = 'Unknown key.';
