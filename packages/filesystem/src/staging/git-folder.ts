import { isHoldfastError } from '@holdfast/core';
import { foldPath } from '@holdfast/core/internal';
import { joinKey, parentOf } from '../paths/paths.ts';
import type { Source } from './reader.ts';

/**
 * The folder above `key` that Git treats as a repository, or would once `key` exists, whatever its name: a bare repository, or the target
 * of a worktree's `.git` file. Git runs commands from the `config` and `hooks` of such a folder.
 *
 * Source: Git's `setup.c`, `is_git_directory`; "Git honours embedded bare repos" (OVE-20210718-0001).
 */
export async function findGitFolder(key: string, { typeOf }: Pick<Source, 'typeOf'>): Promise<string | undefined> {
  for (let folder = parentOf(key); folder !== undefined; folder = parentOf(folder)) {
    const at = folder;
    const name = foldPath(key.slice(at === '' ? 0 : at.length + 1)).split('/')[0] ?? '';
    const has = (part: string): Promise<boolean> | boolean => name === foldPath(part) || isThere(joinKey(at, part));
    if (!(await has('HEAD'))) continue;
    if ((await has('commondir')) || ((await has('objects')) && (await has('refs')))) return at;
  }
  return undefined;

  async function isThere(part: string): Promise<boolean> {
    try {
      return (await typeOf(part)) !== undefined;
    } catch (error) {
      // Neither a file nor a folder, such as a link.
      if (isHoldfastError(error)) return true;
      throw error;
    }
  }
}
