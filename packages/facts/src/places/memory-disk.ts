import { foldPath } from '@holdfast/core/internal';
import type { Disk, DiskEntry } from '@holdfast/core/types';
import { splitPath } from './path.ts';

/** Files by absolute path: text, or the target of a link. Folders follow from the paths. */
export type MemoryFiles = Readonly<Record<string, string | { readonly link: string }>>;

/** A disk in memory, for hosts that keep their files there, and for tests. */
export function memoryDisk(files: MemoryFiles, { folds = false }: { readonly folds?: boolean } = {}): Disk {
  const key = (path: string): string => (folds ? foldPath(path) : path);
  const entries = new Map<string, { readonly entry: DiskEntry; readonly text: string; readonly names: Set<string> }>();
  const add = (path: string, entry: DiskEntry, text = ''): void => {
    const known = entries.get(key(path));
    if (known === undefined) entries.set(key(path), { entry, text, names: new Set() });
  };
  add('/', { type: 'folder' });
  for (const [path, file] of Object.entries(files)) {
    const names = splitPath(path);
    for (const [index, name] of names.entries()) {
      const parent = `/${names.slice(0, index).join('/')}`;
      add(parent, { type: 'folder' });
      entries.get(key(parent))?.names.add(name);
    }
    if (typeof file === 'string') add(path, { type: 'file' }, file);
    else add(path, { type: 'link', target: file.link });
  }
  return {
    folds,
    look: (path) => entries.get(key(path))?.entry ?? { type: 'missing' },
    list(path) {
      const found = entries.get(key(path));
      return found?.entry.type === 'folder' ? [...found.names] : undefined;
    },
    readText(path, maxBytes) {
      const found = entries.get(key(path));
      return found?.entry.type === 'file' && found.text.length <= maxBytes ? found.text : undefined;
    },
  };
}
