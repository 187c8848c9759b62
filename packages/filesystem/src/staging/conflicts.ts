import { joinKey, parentOf } from '../paths/paths.ts';
import { hasChanged } from './errors.ts';
import { type Source, versionAt } from './reader.ts';
import type { Staging } from './staging.ts';

/** Checks that the base of a call's staged changes is unchanged. @throws HoldfastError `file.conflict`. */
export async function checkConflicts(content: Source, { nodes, seen }: Staging): Promise<void> {
  for (const [key, version] of seen) if ((await versionAt(content, key)) !== version) throw hasChanged(key);
  const folders = new Set<string>();
  for (const [key, { type }] of nodes) {
    // A link may have been created on the way since the path was resolved.
    if ((await content.locate(key)).key !== key) throw hasChanged(key);
    const folder = parentOf(key);
    if (type !== 'removed' && folder !== undefined && !nodes.has(folder)) folders.add(folder);
    const current = await content.typeOf(key);
    // A parent folder may exist by now, but nothing else.
    if (current === 'file' && !seen.has(key)) throw hasChanged(key);
    if (current !== 'directory' || type === 'directory') continue;
    for (const { name } of await content.list(key)) {
      const inner = joinKey(key, name.normalize('NFC'));
      if (nodes.get(inner)?.type !== 'removed') throw hasChanged(inner);
    }
  }
  for (const folder of folders) if ((await content.typeOf(folder)) !== 'directory') throw hasChanged(folder);
}
