import type { Place, PlaceView } from '@holdfast/core';
import { foldPath } from '@holdfast/core/internal';
import type { DiskEntry, Recursion } from '@holdfast/core/types';
import { isPlainPath, isWithin, joinPath, splitPath } from './path.ts';

const maxLinks = 40;
// The limit of Linux: longer paths cannot exist.
const maxPath = 4_096;

/** Resolves paths, and caches the results while one call is described. */
export class Places {
  readonly #view: PlaceView;
  readonly #workspace: string;
  readonly #entries = new Map<string, DiskEntry>();
  readonly #lists = new Map<string, readonly string[] | undefined>();
  readonly #resolved = new Map<string, string | undefined>();

  constructor(view: PlaceView) {
    this.#view = view;
    this.#workspace = this.#fold(view.workspace);
  }

  /** The place of an absolute path; `undefined` if its links do not resolve. */
  place(path: string, recursive?: Recursion): Place | undefined {
    const resolved = this.resolve(path);
    if (resolved === undefined) return undefined;
    const inside = isWithin(this.#fold(resolved), this.#workspace);
    return { path: resolved, inside, ...(recursive === undefined ? {} : { recursive }) };
  }

  look(path: string): DiskEntry {
    const known = this.#entries.get(path);
    if (known !== undefined) return known;
    const entry = this.#view.disk?.look(path) ?? { type: 'other' };
    this.#entries.set(path, entry);
    return entry;
  }

  /** The entry after following links. */
  type(path: string): 'file' | 'folder' | 'missing' | 'other' {
    const entry = this.look(this.resolve(path) ?? '');
    return entry.type === 'link' ? 'missing' : entry.type;
  }

  list(path: string): readonly string[] | undefined {
    const resolved = this.resolve(path);
    if (resolved === undefined) return undefined;
    if (!this.#lists.has(resolved)) this.#lists.set(resolved, this.#view.disk?.list(resolved));
    return this.#lists.get(resolved);
  }

  /** Follows the links of an absolute path, also of one whose last names do not exist; `undefined` for a circle of links. */
  resolve(written: string): string | undefined {
    const path = isPlainPath(written) ? written : joinPath('/', written);
    if (this.#resolved.has(path)) return this.#resolved.get(path);
    if (path.length > maxPath) return undefined;
    const end = path.lastIndexOf('/');
    // Most paths of a call share their folder.
    const folder = end > 0 && !path.endsWith('/..') ? this.resolve(path.slice(0, end)) : '/';
    const names = end > 0 && !path.endsWith('/..') ? [path.slice(end + 1)] : splitPath(path);
    const resolved =
      folder === undefined
        ? undefined
        : this.#follow(
            folder,
            names.filter((name) => name !== ''),
          );
    this.#resolved.set(path, resolved);
    return resolved;
  }

  #follow(start: string, names: readonly string[]): string | undefined {
    let current = start;
    const rest = [...names].reverse();
    let links = 0;
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      if (name === '..') {
        current = current.slice(0, Math.max(current.lastIndexOf('/'), 0)) || '/';
        continue;
      }
      const next = `${current === '/' ? '' : current}/${name}`;
      const entry = this.look(next);
      if (entry.type !== 'link') {
        current = next;
        continue;
      }
      links += 1;
      if (links > maxLinks) return undefined;
      if (entry.target.startsWith('/')) current = '/';
      rest.push(...[...splitPath(entry.target)].reverse());
    }
    return current;
  }

  #fold(path: string): string {
    return this.#view.disk?.folds === false ? path.normalize('NFC') : foldPath(path);
  }
}
