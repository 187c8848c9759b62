import { hash } from 'node:crypto';

/** The digest of a closure. */
export function digestClosure(entry: string, files: ReadonlyMap<string, string>): string {
  // JSON of lists and strings is canonical.
  return hash('sha256', JSON.stringify([entry, [...files].sort(([left], [right]) => compareText(left, right))]));
}

export function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
