import type { Place, PlaceView } from '@holdfast/core';
import ignore from 'ignore';
import { nameOf } from './path.ts';
import { Places } from './places.ts';
import { matchesWildcard, readWildcard } from './wildcard.ts';

const maxEntries = 20_000;
const maxMs = 20;

/** The result of a search: the first matching file, none, or too many entries to tell. */
export type Found = { readonly type: 'found'; readonly path: string } | { readonly type: 'none' | 'unclear' };

/**
 * Finds a file that a recursive operation would touch. Inspects at most 20,000 entries for at most 20 ms. `now` returns milliseconds.
 */
export function findWithin(
  place: Place,
  view: PlaceView,
  { matches, now = view.now ?? (() => performance.now()) }: { matches: (path: string) => boolean; now?: () => number },
): Found {
  const { disk } = view;
  const { recursive } = place;
  if (recursive === undefined || disk === undefined) return { type: recursive === undefined ? 'none' : 'unclear' };
  const only = recursive.only?.map(readWildcard);
  const except = (recursive.except ?? []).map((pattern) => readWildcard(pattern.replace(/\/+$/, '')));
  if (only?.includes(undefined) || except.includes(undefined)) return { type: 'unclear' };
  const isOnly = (name: string) => only?.some((pattern) => pattern && matchesWildcard(pattern, name)) ?? true;
  const isExcept = (name: string) => except.some((pattern) => pattern && matchesWildcard(pattern, name));
  const skipsHidden = recursive.skips.includes('hidden');
  // Ignored files are untracked unless force-added; the rest is unknown.
  const skipsIgnored = recursive.skips.includes('ignored') || recursive.skips.includes('untracked');
  const skipsGit = recursive.skips.includes('untracked');
  const ends = now() + maxMs;
  const places = new Places(view);
  const visited = new Set<string>();
  let entries = 0;
  const open: Folder[] = [{ path: place.path, rules: skipsIgnored ? rulesAbove(place.path, view) : [] }];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const rules = skipsIgnored ? [...folder.rules, ...rulesOf(folder.path, view)] : [];
    for (const name of disk.list(folder.path) ?? []) {
      entries += 1;
      if (entries > maxEntries || (entries % 256 === 0 && now() > ends)) return { type: 'unclear' };
      if ((skipsHidden && name.startsWith('.')) || isExcept(name)) continue;
      const path = `${folder.path === '/' ? '' : folder.path}/${name}`;
      const entry = disk.look(path);
      const isLink = entry.type === 'link';
      const target = isLink ? places.resolve(path) : path;
      const type = isLink ? places.type(path) : entry.type;
      const isLeft =
        isLink && (recursive.follows === undefined || (recursive.follows === 'files' && type === 'folder'));
      if (target === undefined || isLeft) continue;
      if (skipsGit && name === '.git') continue;
      if (skipsIgnored && isIgnored(path, type === 'folder', rules)) continue;
      if (type !== 'folder') {
        if (isOnly(nameOf(path)) && (matches(path) || (isLink && matches(target))))
          return { type: 'found', path: target };
      } else if (!visited.has(target)) open.push({ path: target, rules });
      if (isLink) visited.add(target);
    }
  }
  return { type: 'none' };
}

interface Folder {
  readonly path: string;
  readonly rules: readonly Rules[];
}

interface Rules {
  readonly folder: string;
  readonly of: ReturnType<typeof ignore>;
}

function rulesOf(folder: string, { disk }: PlaceView): readonly Rules[] {
  const text = disk?.readText(`${folder === '/' ? '' : folder}/.gitignore`, 100_000);
  return text === undefined ? [] : [{ folder, of: ignore().add(text) }];
}

function rulesAbove(path: string, view: PlaceView): readonly Rules[] {
  const { workspace } = view;
  if (!path.startsWith(`${workspace}/`)) return [];
  const names = path.slice(workspace.length + 1).split('/');
  return names.flatMap((_, index) => rulesOf([workspace, ...names.slice(0, index)].join('/'), view));
}

function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { folder, of } of rules) {
    const result = of.test(path.slice(folder.length + 1) + (isFolder ? '/' : ''));
    ignored = result.ignored || (ignored && !result.unignored);
  }
  return ignored;
}
