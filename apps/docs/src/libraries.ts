import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A package that programs import. */
export interface Library {
  /** Its folder in `packages/`. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  /** Import specifiers, such as `@holdfast/session/jsonl`, with the source file relative to the package. */
  readonly entries: readonly { readonly specifier: string; readonly source: string }[];
}

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly exports: Readonly<Record<string, string | { readonly 'holdfast-source': string }>>;
}

/** The repository that this file is in. */
export const repository: string = fileURLToPath(new URL('../../../', import.meta.url));

// The packages of a first program.
const first = ['kit', 'core', 'executor', 'policy', 'prompt', 'session', 'schema', 'filesystem', 'planning'];

/** The packages of `packages/`: those of a first program, then the others in name order. */
export function libraries(): readonly Library[] {
  return [...new Set([...first, ...readdirSync(join(repository, 'packages')).toSorted()])].map((folder) => {
    // Our own manifest; a check of the repository validates its shape.
    const text = readFileSync(join(repository, 'packages', folder, 'package.json'), 'utf8');
    const { name, description, exports } = JSON.parse(text) as Manifest;
    const entries = Object.entries(exports).flatMap(([subpath, target]) =>
      typeof target === 'string'
        ? []
        : [{ specifier: `${name}${subpath.slice(1)}`, source: target['holdfast-source'] }],
    );
    return { folder, name, description, entries };
  });
}
