import type { Finding } from './diagnostic.ts';
import type { LiteralPath } from './literal.ts';

/** A finding about a member of the metadata. */
export interface MetadataFinding extends Finding {
  readonly path: LiteralPath;
}

/** Takes what a check finds. */
export type Report = (finding: MetadataFinding) => void;

/** `parameters.properties.city` for people; keys that are no plain words stand in brackets. */
export function showPath(path: LiteralPath): string {
  return path
    .map((key, index) => {
      if (/^[A-Za-z_$][\w$-]*$/.test(key)) return index === 0 ? key : `.${key}`;
      return /^\d+$/.test(key) ? `[${key}]` : `[${JSON.stringify(key)}]`;
    })
    .join('');
}
