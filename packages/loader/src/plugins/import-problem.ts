import { HoldfastError } from '@holdfast/core';
import type { LockedPlugins } from '../pins/locked-definitions.ts';
import { makeVisible } from '../text/hidden-text.ts';
import { describeDefinitionChanges, findDefinitionChanges, lockCode } from './changes.ts';
import type { DefinitionSource } from './definitions.ts';

/** A file that a plugin or a pack is going to be imported from. */
export interface FileToImport {
  readonly kind: 'plugin' | 'pack';
  /** As a configuration names it. */
  readonly entry: string;
  readonly source: DefinitionSource;
}

/**
 * Why a file must not be imported, by a lock that says something of plugins and packs. Which of them it has is not known before its code
 * has run: any that is locked from the same file of the same package will do.
 */
export function findImportProblem(
  { kind, entry, source }: FileToImport,
  locked: LockedPlugins,
): HoldfastError | undefined {
  const { package: packageName, version: packageVersion, digest } = source;
  const known = [...locked].filter(
    ([id, one]) => id.startsWith(`${kind}:`) && one.package === packageName && one.digest !== undefined,
  );
  if (known.some(([, one]) => one.digest === digest)) return undefined;
  const [first] = known;
  const refuse = (state: 'new' | 'changed', problem: string, accept = ''): HoldfastError => {
    const message = `The ${kind} \`${makeVisible(entry).slice(0, 200)}\` ${problem}, and nothing of it was run. \`holdfast lock --check${accept}\` runs it, and shows what it declares; without \`--check\` it is locked as it is now.`;
    return new HoldfastError(lockCode(kind, state), message, { data: { [kind]: makeVisible(entry) } });
  };
  if (first === undefined) return refuse('new', 'is not in the lock');
  // A path may be that of any which comes from no package.
  if (packageName === undefined) return refuse('changed', 'is no file that is locked');
  const [id, before] = first;
  const changes = findDefinitionChanges(before, { ...before, packageVersion, digest });
  return refuse('changed', `is not as it is locked (${describeDefinitionChanges(changes)})`, ` --accept ${id}`);
}
