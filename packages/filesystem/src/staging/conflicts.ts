import { joinKey, parentOf } from '../paths/paths.ts';
import { hasChanged } from './errors.ts';
import { type Source, versionAt } from './reader.ts';
import type { Staging } from './staging.ts';

/** Makes sure that what a call staged still fits on what it was built on. @throws HoldfastError `file.conflict`. */
export async function checkConflicts(content: Source, { nodes, seen }: Staging): Promise<void> {
  for (const [key, version] of seen) if ((await versionAt(content, key)) !== version) throw hasChanged(key);
  const folders = new Set<string>();
  for (const [key, { type }] of nodes) {
    // Somebody may have put a link in the way since the path was resolved.
    if ((await content.locate(key)).key !== key) throw hasChanged(key);
    const folder = parentOf(key);
    if (type !== 'removed' && folder !== undefined && !nodes.has(folder)) folders.add(folder);
    const current = await content.typeOf(key);
    // A folder that was made on the way may be there by now, but nothing else may.
    if (current === 'file' && !seen.has(key)) throw hasChanged(key);
    if (current !== 'directory' || type === 'directory') continue;
    for (const { name } of await content.list(key)) {
      const inner = joinKey(key, name.normalize('NFC'));
      if (nodes.get(inner)?.type !== 'removed') throw hasChanged(inner);
    }
  }
  for (const folder of folders) if ((await content.typeOf(folder)) !== 'directory') throw hasChanged(folder);
}
